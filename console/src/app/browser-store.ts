/**
 * What is too large for the small storage of a browser: texts and images of the playgrounds. They stay in this browser, and
 * nowhere else. Where its storage is closed to us, nothing is kept.
 */

const DATABASE = 'torana.playground'
const STORES = ['texts', 'edits', 'media'] as const
const VERSION = 3

function opened(): Promise<IDBDatabase> {
  const asked = indexedDB.open(DATABASE, VERSION)
  asked.onupgradeneeded = () => {
    for (const store of STORES)
      if (!asked.result.objectStoreNames.contains(store)) asked.result.createObjectStore(store)
  }
  return settledOf(asked)
}

function settledOf<Result>(request: IDBRequest<Result>): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>()
  request.onsuccess = () => resolve(request.result)
  request.onerror = () => reject(request.error ?? new Error('the storage of this browser is closed'))
  return promise
}

/** Undefined also where the storage is closed. */
export async function inBrowserStore<Result>(
  name: (typeof STORES)[number],
  mode: IDBTransactionMode,
  work: (store: IDBObjectStore) => IDBRequest<Result>,
): Promise<Result | undefined> {
  try {
    const database = await opened()
    try {
      return await settledOf(work(database.transaction(name, mode).objectStore(name)))
    } finally {
      database.close()
    }
  } catch {
    // A private window, or a full one: what was typed lives as long as the page.
    return undefined
  }
}
