// The IndexedDB database: what waits to be sent, and the runs that it belongs to.
// @ts-check

const NAME = "bowerbird";
const VERSION = 1;

/** @type {Promise<IDBDatabase> | null} */
let opened = null;

/** @returns {Promise<IDBDatabase>} */
function open() {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, VERSION);
    request.onupgradeneeded = () => {
      request.result.createObjectStore("items", { keyPath: "id", autoIncrement: true });
      request.result.createObjectStore("runs", { keyPath: "id" });
      request.result.createObjectStore("totals");
    };
    request.onsuccess = () => {
      // Another worker wants to change the database, or the browser closed it: open it again.
      request.result.onversionchange = () => { request.result.close(); opened = null; };
      request.result.onclose = () => { opened = null; };
      resolve(request.result);
    };
    request.onerror = () => { opened = null; reject(request.error); };
  });
  return opened;
}

/**
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
export function result(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/**
 * Does the work in one transaction. It may wait only for requests of this transaction.
 * @template T
 * @param {"readonly" | "readwrite"} mode
 * @param {(store: (name: "items" | "runs" | "totals") => IDBObjectStore) => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function within(mode, work) {
  const database = await open();
  const transaction = database.transaction(["items", "runs", "totals"], mode);
  const finished = new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve(undefined);
    transaction.onabort = () => reject(transaction.error ?? new Error("The transaction was aborted."));
  });
  try {
    const value = await work((name) => transaction.objectStore(name));
    await finished;
    return value;
  } catch (error) {
    finished.catch(() => {});
    try {
      transaction.abort();
    } catch {
      // It was aborted already.
    }
    throw error;
  }
}
