/** The texts of the playground stay in this browser, and nowhere else. Where its storage is closed to us, nothing is kept. */

const DATABASE = 'torana.playground'
const STORE = 'texts'
const KEY = 'embeddings'

function opened(): Promise<IDBDatabase> {
  const asked = indexedDB.open(DATABASE, 1)
  asked.onupgradeneeded = () => asked.result.createObjectStore(STORE)
  return settledOf(asked)
}

function settledOf<Result>(request: IDBRequest<Result>): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>()
  request.onsuccess = () => resolve(request.result)
  request.onerror = () => reject(request.error ?? new Error('the storage of this browser is closed'))
  return promise
}

async function within<Result>(
  mode: IDBTransactionMode,
  work: (store: IDBObjectStore) => IDBRequest<Result>,
): Promise<Result | undefined> {
  try {
    const database = await opened()
    try {
      return await settledOf(work(database.transaction(STORE, mode).objectStore(STORE)))
    } finally {
      database.close()
    }
  } catch {
    // A private window: the texts live as long as the page.
    return undefined
  }
}

export async function keptTexts(): Promise<string | undefined> {
  const kept: unknown = await within('readonly', (store) => store.get(KEY) as IDBRequest<unknown>)
  return typeof kept === 'string' ? kept : undefined
}

export async function keepTexts(typed: string): Promise<void> {
  await within('readwrite', (store) => store.put(typed, KEY))
}

export async function forgetTexts(): Promise<void> {
  await within('readwrite', (store) => store.delete(KEY))
}
