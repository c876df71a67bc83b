// A page of X's origin that wants to put posts into the library. It knows the extension's source.
(() => {
  const stranger = "1999999999999999999";
  const tweet = {
    __typename: "Tweet",
    rest_id: stranger,
    legacy: { id_str: stranger, full_text: "Forged.", created_at: "Thu Mar 13 00:00:00 +0000 2025" },
  };
  const entry = {
    entryId: `tweet-${stranger}`,
    sortIndex: "1826480141107200000",
    content: { itemContent: { itemType: "TimelineTweet", tweet_results: { result: tweet } } },
  };
  const instructions = [{ type: "TimelineAddEntries", entries: [entry] }];
  const body = JSON.stringify({ data: { bookmark_timeline_v2: { timeline: { instructions } } } });
  const url = `${location.origin}/i/api/graphql/forged/Bookmarks?variables=%7B%7D`;
  const user = window.__INITIAL_STATE__.session.user_id;
  const good = { operation: "Bookmarks", url, sent: "", body, user, at: Date.now() };
  const deep = `{"a":`.repeat(100_000);

  const captured = (changes) => ({ bowerbird: "captured", captured: { ...good, ...changes } });
  const malformed = [
    null, 7, "captured", [], {}, { bowerbird: {} },
    { bowerbird: "captured" },
    { bowerbird: "captured", captured: [good] },
    { type: "captured", captured: good },
    captured({ operation: "__proto__" }),
    captured({ operation: "constructor" }),
    captured({ operation: "HomeTimeline" }),
    captured({ operation: ["Bookmarks"] }),
    captured({ url: "https://evil.example/i/api/graphql/forged/Bookmarks?variables=%7B%7D" }),
    captured({ url: "javascript:alert(1)" }),
    captured({ url: `${location.origin}/i/api/graphql/../../Bookmarks` }),
    captured({ url: 7 }),
    captured({ sent: { toString: null } }),
    captured({ sent: "x".repeat(1_000_000) }),
    captured({ body: 7 }),
    captured({ body: "[]" }),
    captured({ body: "<script>alert(1)</script>" }),
    captured({ body: `{"a":"${"x".repeat(9_000_000)}"}` }),
    captured({ user: "7; drop" }),
    captured({ user: "9".repeat(1_000) }),
    captured({ user: {} }),
    // What the popup sends to the worker.
    ...["disconnect", "connect", "save", "sync", "start", "state"].map((type) => ({ type })),
  ];

  // Looks as if X had answered; what else it says is not for the page to decide.
  window.forge = (changes) => {
    const more = { token: "dev_forged", ingest_url: "https://evil.example", origin: "https://evil.example" };
    window.postMessage(captured({ ...more, at: Date.now(), ...changes }), "*");
    return stranger;
  };

  const frameOfAnotherSite = () =>
    new Promise((resolve) => {
      const frame = document.createElement("iframe");
      frame.src = "https://evil.example/";
      frame.onload = () => resolve(frame);
      document.body.append(frame);
    });

  window.attack = async () => {
    for (const message of malformed) window.postMessage(message, "*");
    // Looks right, but does not come from the page's own window.
    const frame = await frameOfAnotherSite();
    const heard = new Promise((resolve) => {
      addEventListener("message", (event) => {
        if (event.source === frame.contentWindow && event.data === "last") resolve(null);
      });
    });
    for (const message of [captured({}), ...malformed, "last"]) {
      frame.contentWindow.postMessage(message, "*");
    }
    await heard;
    // Readable only by a parser that is deep enough; the server answers that it is not.
    window.postMessage(captured({ operation: "TweetDetail", body: deep }), "*");
    return typeof globalThis.chrome?.runtime?.sendMessage;
  };
})();
