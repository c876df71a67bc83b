// What the parts of the extension hand to each other. Only for the type checker: not packed.

/** An answer of X, as the bridge checked it. */
interface Captured {
  operation: string;
  queryId: string;
  variables: Record<string, string | number>;
  body: string;
  /** The X account that the page is signed in to, and its name; empty if the page does not say it. */
  user: string;
  username: string;
  at: number;
  /** For a change: an answer that shows the post. */
  shown?: string;
}

/** The library that the extension is connected to. */
interface Connection {
  address: string;
  token: string;
  device_id: string;
  email: string;
  ingest_url: string;
  library_url: string;
  keys_url: string;
}

type RunKind = "full" | "incremental" | "visit";
type EndReason = "end" | "caught_up" | "interrupted";
/** locked: X has locked or suspended the account. down: X answers with an error, or not at all. */
type TroubleKind = "limit" | "signed_out" | "locked" | "down";

/** Why X shows no list of bookmarks. */
interface Trouble {
  kind: TroubleKind;
  /** When it is tried again, or 0 if the person has to do something. */
  until: number;
  tries: number;
  at: number;
}

/** A run of the ingest protocol, from the first page until its end was sent. */
interface Run {
  id: string;
  /** sync: the list that the extension scrolls through. list: the list that the person opens.
   * side: folders, searches and opened posts. */
  role: "sync" | "list" | "side";
  kind: RunKind;
  user: string;
  tab: number;
  /** The server's id; empty until the first page is sent. */
  runId: string;
  /** Counts the runs that the server has seen for this one. */
  attempt: number;
  /** Counts the refused starts of a run. */
  refusals: number;
  isEnded: boolean;
  /** How often it has ended: a sync goes on after an interruption. Older versions did not count it. */
  ends?: number;
  /** Its first page was the top of the list. */
  isFromTop: boolean;
  /** The library said that the list ends with a page of it, or that it knows the rest. */
  isStopped: boolean;
  /** The library could not read a page of it, because X has changed its answers. */
  isUnread: boolean;
  nextSeq: number;
  pages: number;
  seen: number;
  inserted: number;
  /** The lowest sortIndex so far, as text: it exceeds 2^53. */
  lowest: string;
  /** The place of its next page in the list: empty for the top, null if X did not say it in a known form. */
  cursor: string | null;
  startedAt: number;
  pageAt: number;
}

interface PageItem { type: "page"; run: string; user: string; operation: string; body: ArrayBuffer; }
interface FinishItem { type: "finish"; run: string; user: string; reason: EndReason; ends?: number; }
interface EventItem { type: "event"; user: string; event: BookmarkEvent; }
interface SaveItem { type: "save"; user: string; link: string; labels: string[]; key: string; }
type NewItem = (PageItem | FinishItem | EventItem | SaveItem) & { posts: number; bytes: number };
type Item = NewItem & { id: number };

interface BookmarkEvent {
  type: "added" | "removed";
  post_id: string;
  at: string;
  payload?: unknown;
  labels?: string[];
}

interface Totals { items: number; posts: number; bytes: number; }

/** Why nothing is sent at the moment. */
interface Problem {
  kind: "unreachable" | "busy" | "revoked" | "other_user" | "refused";
  sentence: string;
  since: number;
  user?: string;
  run?: string;
}

interface Sending { failures: number; retryAt: number; problem: Problem | null; }

interface Sync {
  state: "running" | "paused" | "interrupted" | "gave_up" | "done";
  kind: RunKind;
  run: string;
  tab: number;
  browserSession: string;
  /** Its tab still shows an earlier page, which is being replaced. */
  isLoading?: boolean;
  why: "" | "you" | "full" | "tab" | "left" | "idle" | "gap" | "unread" | "empty" | "stalled" | "silent" | "user" | "end" | "caught_up" | TroubleKind;
  /** When it goes on by itself, or 0. */
  until: number;
  startedAt: number;
  changedAt: number;
  /** When its tab last showed a part of the list that the sync has already. */
  heardAt: number;
  /** How long it ran before the last pause. */
  ranMs: number;
  seen: number;
  inserted: number;
  oldest: number;
}

interface Known {
  posts: number;
  held: number;
  /** The runs after which so many posts were missing that the person has to confirm it. */
  heldRuns?: string[];
  boundUser: string;
  at: number;
}

/** The last run that sent pages of the list of bookmarks. */
interface LastList {
  run: string;
  posts: number;
  /** The library has acknowledged that it has the list to its end, or to what it knew. */
  isProved: boolean;
}

/** Pages that the library could not read, because X has changed its answers. */
interface Unread {
  /** The last run that had such pages, and since when. */
  run: string;
  since: number;
  pages: number;
  /** The library keeps all of them, and reads them after an update. */
  isKept: boolean;
}

interface Post { text: string; author: string; }

interface View {
  state: "off" | "syncing" | "paused" | "error" | "done";
  host: string;
  email: string;
  libraryUrl: string;
  keysUrl: string;
  waiting: Totals;
  isFull: boolean;
  sync: Sync | null;
  perMinute: number;
  problem: Problem | null;
  retryAt: number;
  refused: { sentence: string; at: number } | null;
  known: Known | null;
  lastSentAt: number;
  hasReadAll: boolean;
  list: LastList | null;
  /** The last list is proved, and nothing waits. */
  isComplete: boolean;
  unread: Unread | null;
  trouble: Trouble | null;
  latest: Post[];
  readsOpened: boolean;
  /** X does not say which account is signed in, so a second one is not noticed. */
  isViewerUnknown: boolean;
  /** The X account of the problem, as the person knows it. */
  userName: string;
  /** X accounts whose posts are left out. */
  ignored: { user: string; name: string }[];
}

interface SaveOutcome { state: "sent" | "waiting" | "refused" | "off"; sentence: string; }

declare var bowerbirdX: Readonly<{
  operations: string[]; changes: string[]; opened: string[]; post: RegExp; signIn: RegExp; locked: RegExp;
}>;
declare var bowerbirdWhy: (sync: Pick<Sync, "why">, at: string, until?: string) => string;
declare var bowerbirdChanged: (safe: number, isKept: boolean) => string;
declare var bowerbirdTroubles: Record<TroubleKind, string>;
declare var bowerbirdEmpty: string;
declare var bowerbirdSaid: Record<string, string>;
declare var bowerbirdEvents: EventTarget;
declare var bowerbirdAsk: (message: Record<string, unknown>, isAnswer?: (answer: any) => boolean) => Promise<any>;
declare var bowerbirdPlaced: Promise<void>;
declare var bowerbirdOpened: (postId: string) => Captured | null;
declare var bowerbirdFrame: (name: string, styles: string) => { host: HTMLElement; root: ShadowRoot };
declare var bowerbirdElement: (
  name: string, fields?: Record<string, unknown>, ...children: (Node | string)[]
) => HTMLElement;
declare var bowerbirdOnPath: (listener: (path: string) => void) => void;

/** The part of the WebExtension interface that is used. */
declare namespace chrome {
  interface Event<T extends (...parts: any[]) => unknown> { addListener(listener: T): void; }
  interface Tab { id?: number; url?: string; windowId?: number; active?: boolean; }
  interface Sender { tab?: Tab; id?: string; url?: string; origin?: string; }
  interface Area {
    get(keys: string | string[]): Promise<Record<string, any>>;
    set(values: Record<string, unknown>): Promise<void>;
    remove(keys: string | string[]): Promise<void>;
    setAccessLevel?(level: { accessLevel: string }): Promise<void>;
  }
  const storage: {
    local: Area;
    session: Area;
    onChanged: Event<(changes: Record<string, { newValue?: any }>, area: string) => void>;
  };
  const runtime: {
    id?: string;
    sendMessage(message: unknown): Promise<any>;
    getManifest(): { version: string };
    getURL(path: string): string;
    getPlatformInfo(): Promise<{ os: string }>;
    onMessage: Event<(message: any, sender: Sender, reply: (answer: unknown) => void) => boolean>;
    onInstalled: Event<() => void>;
    onStartup: Event<() => void>;
  };
  const alarms: {
    create(name: string, when: { when?: number; periodInMinutes?: number }): Promise<void>;
    clear(name: string): Promise<boolean>;
    onAlarm: Event<(alarm: { name: string }) => void>;
  };
  const action: {
    setBadgeText(badge: { text: string }): Promise<void>;
    setBadgeBackgroundColor(badge: { color: string }): Promise<void>;
    setBadgeTextColor?(badge: { color: string }): Promise<void>;
    setTitle(title: { title: string }): Promise<void>;
  };
  const tabs: {
    create(tab: { url: string }): Promise<Tab>;
    update(id: number, change: { active?: boolean; url?: string }): Promise<Tab>;
    query(filter: Record<string, unknown>): Promise<Tab[]>;
    sendMessage(id: number, message: unknown): Promise<any>;
    onRemoved: Event<(id: number) => void>;
  };
  const contextMenus: {
    create(entry: Record<string, unknown>, done?: () => void): void;
    removeAll(done?: () => void): void;
    onClicked: Event<(info: { linkUrl?: string; pageUrl?: string }, tab?: Tab) => void>;
  };
  const permissions: {
    request(wanted: { origins?: string[]; data_collection?: string[] }): Promise<boolean>;
    remove(given: { origins: string[] }): Promise<boolean>;
    onRemoved: Event<(taken: { data_collection?: string[] }) => void>;
  };
}
