"""A server with a model embeds new posts, and loads the model only when it needs it."""

import subprocess
import sys
from pathlib import Path

from tests.support.models import MODEL_DIR
from tests.support.serving import http, serving
from tests.support.waiting import wait_until

IMPORT_SERVER = """
import sys
import bowerbird.server
heavy = {"numpy", "onnxruntime", "tokenizers", "httpx2", "jinja2"} & set(sys.modules)
assert not heavy, heavy
"""


def test_importing_the_server_does_not_load_the_model() -> None:
    code = [sys.executable, "-c", IMPORT_SERVER]
    ran = subprocess.run(code, capture_output=True, text=True, check=False)

    assert ran.returncode == 0, ran.stderr


def test_imported_posts_are_soon_found_by_meaning(tmp_path: Path) -> None:
    posts = Path(__file__).parents[2] / "examples" / "posts.json"
    with serving(tmp_path, model_dir=MODEL_DIR) as server:
        key = server.new_key()
        server.run("import", "you@example.com", str(posts))

        def state() -> str:
            account = server.get("/v1/account", key).json()["data"]
            return str(account["vector_store"]["state"])

        wait_until(lambda: state() == "ready")
        found = server.get("/v1/bookmarks", key, vector_search_term="birds that love colours")
        metrics = http.get(f"http://127.0.0.1:{server.admin_port}/metrics").text

    assert found.status_code == 200
    assert found.json()["data"]
    assert "bowerbird_posts_embedded_total" in metrics
    assert "bowerbird_posts_pending_embedding" in metrics
