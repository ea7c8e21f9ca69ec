/** The texts of the playground stay in this browser, and nowhere else. */
import { inBrowserStore } from '../../app/browser-store.ts'

const KEY = 'embeddings'

export async function keptTexts(): Promise<string | undefined> {
  const kept: unknown = await inBrowserStore(
    'texts',
    'readonly',
    (store) => store.get(KEY) as IDBRequest<unknown>,
  )
  return typeof kept === 'string' ? kept : undefined
}

export async function keepTexts(typed: string): Promise<void> {
  await inBrowserStore('texts', 'readwrite', (store) => store.put(typed, KEY))
}

export async function forgetTexts(): Promise<void> {
  await inBrowserStore('texts', 'readwrite', (store) => store.delete(KEY))
}
