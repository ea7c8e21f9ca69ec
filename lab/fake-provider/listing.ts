/** The answer of `GET /v1/models`: well-known models, an unknown one, and one that makes neither vectors nor pictures. */
const LISTED_MODELS: readonly string[] = [
  'text-embedding-3-small',
  'text-embedding-ada-002',
  'gpt-image-2',
  'house-embed-w64',
  'gpt-5-chat',
]

/** Behind the name of a scenario. */
export const LISTING_PATH = 'v1/models'

/** The body of a list of models, if the path asks for one. */
export function listing(path: string): string | null {
  if (path !== LISTING_PATH) return null
  const data = LISTED_MODELS.map((id) => ({ id, object: 'model', created: 0, owned_by: 'fake-provider' }))
  return JSON.stringify({ object: 'list', data })
}
