// Shows a page of this site when its server does not answer. It stores that page and nothing else.
"use strict";

const CACHE = "offline-{{ release }}";
const PAGE = {{ page|tojson }};
const FILES = [PAGE, ...{{ files|tojson }}];
// Cookies must reach these as the browser sends them by itself, also after a redirect.
const LEFT_ALONE = {{ left_alone|tojson }};

self.addEventListener("install", (event) => {
  // A page that is left sends its last change. Through the worker, Chromium would drop it.
  event.addRoutes?.({ condition: { requestMethod: "POST" }, source: "network" });
  // Pages that are open need that too.
  self.skipWaiting();
  const requests = FILES.map((path) => new Request(path, { credentials: "omit", cache: "reload" }));
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(requests)));
});

self.addEventListener("activate", (event) => {
  const drop = (name) => name.startsWith("offline-") && name !== CACHE && caches.delete(name);
  event.waitUntil(caches.keys().then((names) => Promise.all(names.map(drop))));
});

self.addEventListener("fetch", (event) => {
  const { method, mode, url } = event.request;
  const { origin, pathname } = new URL(url);
  if (method !== "GET" || origin !== self.location.origin) return;
  const isPage = mode === "navigate" && !LEFT_ALONE.some((start) => pathname.startsWith(start));
  if (!isPage && !FILES.includes(pathname)) return;
  const stored = () => caches.match(isPage ? PAGE : pathname, { ignoreVary: true });
  event.respondWith(fetch(event.request).catch(stored));
});
