// Plays the script of X's web client: asks for posts while the person scrolls, and shows them.
(() => {
  const { entities, session, fake } = window.__INITIAL_STATE__;
  const viewer = entities.users.entities[session.user_id];
  const column = document.querySelector("[data-testid=primaryColumn]");
  const csrf = document.cookie.match(/ct0=([^;]+)/)?.[1] ?? "";
  // X itself uses XMLHttpRequest; here both take turns.
  // So many screens of posts are loaded ahead.
  const AHEAD = 11;
  let usesFetch = false;
  let list = null;

  const headers = () => ({
    authorization: fake.authorization,
    "x-csrf-token": csrf,
    "x-twitter-auth-type": "OAuth2Session",
    "x-client-transaction-id": crypto.randomUUID(),
    "content-type": "application/json",
  });

  const byFetch = async (method, url, body) => {
    const response = await fetch(url, { method, headers: headers(), body });
    if (!response.ok) throw new Error(String(response.status));
    return response.json();
  };

  const byXhr = (method, url, body) =>
    new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open(method, url);
      for (const [name, value] of Object.entries(headers())) request.setRequestHeader(name, value);
      request.onload = () =>
        request.status === 200
          ? resolve(JSON.parse(request.responseText))
          : reject(new Error(String(request.status)));
      request.onerror = () => reject(new Error("network"));
      request.send(body);
    });

  // X's own script knows the new names of its fields.
  const understood = (answer) => {
    let text = JSON.stringify(answer);
    for (const [old, name] of Object.entries(fake.renamed)) text = text.replaceAll(`"${name}":`, `"${old}":`);
    return JSON.parse(text);
  };

  const ask = (operation, variables, send) => {
    const url = `/i/api/graphql/${fake.operationIds[operation]}/${fake.operationNames[operation] ?? operation}`;
    const query = new URLSearchParams({
      variables: JSON.stringify(variables),
      features: JSON.stringify({ graphql_timeline_v2_bookmark_timeline: true }),
    });
    return send("GET", `${url}?${query}`).then(understood);
  };

  const change = (operation, tweetId) => {
    const queryId = fake.operationIds[operation];
    const body = JSON.stringify({ variables: { tweet_id: tweetId }, queryId });
    return inTurn()("POST", `/i/api/graphql/${queryId}/${operation}`, body);
  };

  const inTurn = () => {
    usesFetch = !usesFetch;
    return usesFetch ? byFetch : byXhr;
  };

  const element = (name, fields = {}, ...children) => {
    const made = document.createElement(name);
    const { testid, ...others } = fields;
    if (testid) made.dataset.testid = testid;
    Object.assign(made, others);
    made.append(...children);
    return made;
  };

  const bookmarkButton = (tweetId, isSaved) => {
    const button = element("button", { testid: isSaved ? "removeBookmark" : "bookmark" });
    button.textContent = "Bookmark";
    button.onclick = async () => {
      const removes = button.dataset.testid === "removeBookmark";
      await change(removes ? "DeleteBookmark" : "CreateBookmark", tweetId);
      button.dataset.testid = removes ? "bookmark" : "removeBookmark";
    };
    return button;
  };

  const article = (result) => {
    const tweet = result.tweet ?? result;
    if (!tweet.legacy) return element("div", {}, "This Post is unavailable.");
    const user = tweet.core.user_results.result.core;
    const link = element("a", { href: `/${user.screen_name}/status/${tweet.rest_id}` });
    link.append(element("time", { dateTime: new Date(tweet.legacy.created_at).toISOString() }, "1y"));
    const actions = element("div", { role: "group" });
    actions.append(bookmarkButton(tweet.rest_id, tweet.legacy.bookmarked));
    return element(
      "article",
      { testid: "tweet", role: "article" },
      element("div", { testid: "User-Name" }, user.name, " ", link),
      element("div", { testid: "tweetText" }, tweet.legacy.full_text.replaceAll("&amp;", "&")),
      actions,
    );
  };

  const instructionsOf = (data) => {
    const find = (value) => value?.instructions ?? Object.values(value ?? {}).map(find).find(Boolean);
    return find(data);
  };

  const show = (place, answer) => {
    const entries = instructionsOf(answer.data).flatMap((one) => one.entries ?? []);
    let cursor = null;
    let count = 0;
    for (const { content } of entries) {
      if (content.cursorType === "Bottom") cursor = content.value;
      const result = content.itemContent?.tweet_results.result;
      if (!result) continue;
      count += 1;
      place.append(element("div", { testid: "cellInnerDiv" }, article(result)));
    }
    return { cursor, count };
  };

  // For tests: how far the list is.
  const tell = ({ place, isLoading, isAtEnd }) => {
    const { dataset } = document.documentElement;
    dataset.listed = String(place.children.length);
    dataset.state = isAtEnd ? "end" : isLoading ? "loading" : "idle";
  };

  const loadMore = async () => {
    const current = list;
    if (!current || current.isLoading) return;
    tell(current);
    if (current.isAtEnd) return;
    if (scrollY + innerHeight < document.documentElement.scrollHeight - AHEAD * innerHeight) return;
    current.isLoading = true;
    tell(current);
    let isRefused = false;
    const variables = { ...current.variables };
    if (current.cursor) variables.cursor = current.cursor;
    try {
      const { cursor, count } = show(current.place, await ask(current.operation, variables, inTurn()));
      current.isAtEnd = count === 0 || !cursor;
      current.cursor = cursor;
    } catch (error) {
      // X shows a button to try again; here scrolling does.
      console.info("not loaded", String(error));
      isRefused = /^Error: [0-9]+$/.test(String(error));
    }
    current.isLoading = false;
    tell(current);
    if (isRefused) return;
    if (current === list) requestAnimationFrame(loadMore);
  };

  const openList = (operation, variables) => {
    const place = element("div", { ariaLabel: "Timeline: Bookmarks" });
    column.append(element("section", { role: "region" }, place));
    list = { operation, variables, place, cursor: null, isLoading: false, isAtEnd: false };
    loadMore();
  };

  const openPost = async (tweetId) => {
    const place = element("section", { role: "region" });
    column.append(place);
    show(place, await ask("TweetDetail", { focalTweetId: tweetId }, byXhr));
  };

  const openArticle = async (tweetId) => {
    const { data } = await ask("TweetResultByRestId", { tweetId }, byXhr);
    const { result } = data.tweetResult;
    column.append(element("section", { role: "region" }, result.article.article_results.result.plain_text, article(result)));
  };

  const openFeed = async (operation, variables) => {
    const place = element("section", { role: "region" });
    column.append(place);
    show(place, await ask(operation, variables, inTurn()));
  };

  const openBookmarks = async (folder) => {
    const words = element("input", { placeholder: "Search Bookmarks" });
    words.onchange = () => {
      list.place.parentElement.remove();
      openList("BookmarkSearchTimeline", { rawQuery: words.value, count: 20 });
    };
    column.append(words);
    if (folder) {
      openList("BookmarkFolderTimeline", { bookmark_collection_id: folder, includePromotedContent: true });
      return;
    }
    openList("Bookmarks", { count: 20, includePromotedContent: false });
    if (fake.folders) await ask("BookmarkFoldersSlice", {}, byXhr);
  };

  const route = () => {
    list = null;
    column.replaceChildren(element("h2", {}, location.pathname));
    const [, first, second, third] = location.pathname.split("/");
    document.title = `${location.pathname} / X`;
    if (first === "i" && second === "bookmarks") openBookmarks(third === "all" ? "" : third);
    else if (second === "status") openPost(third);
    else if (second === "article") openArticle(third);
    else if (first === "home") openFeed("HomeTimeline", { count: 20 });
    else if (first === "search") openFeed("SearchTimeline", { rawQuery: "owls" });
    else if (first === viewer.screen_name) openFeed("UserTweets", { userId: viewer.id_str });
  };

  // X is one page whose address changes.
  const nav = element("nav", { role: "navigation" });
  for (const [name, href] of [
    ["Home", "/home"],
    ["Bookmarks", "/i/bookmarks"],
    ["Profile", `/${viewer.screen_name}`],
  ]) {
    const link = element("a", { href, testid: `AppTabBar_${name}_Link` }, name);
    link.onclick = (event) => {
      event.preventDefault();
      history.pushState({}, "", href);
      route();
    };
    nav.append(link, " ");
  }
  document.querySelector("#react-root").prepend(nav);
  addEventListener("scroll", loadMore, { passive: true });
  addEventListener("popstate", route);
  window.save = (tweetId) => change("CreateBookmark", tweetId);
  // For tests: a request as the page sends it, and how many posts it shows.
  window.asked = async (operation, transport) => {
    const answer = await ask(operation, { count: 20 }, transport === "fetch" ? byFetch : byXhr);
    return show(element("div"), answer).count;
  };
  route();
})();
