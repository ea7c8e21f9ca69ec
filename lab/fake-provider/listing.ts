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

/** The body of a list of models, if the path asks for one. `shutdown`: the number of `shutdown-N`. */
export function listing(path: string, shutdown: number | undefined): string | null {
  if (path !== LISTING_PATH) return null
  const ends = shutdown === undefined ? {} : { shutdown_date: shutdownDate(shutdown) }
  const data = LISTED_MODELS.map((id) => ({
    id,
    object: 'model',
    created: 0,
    owned_by: 'fake-provider',
    ...ends,
  }))
  return JSON.stringify({ object: 'list', data })
}

/** 20261201 as an ISO date, 0 as words, and any other number as it is: Unix seconds. */
function shutdownDate(amount: number): string | number {
  if (amount === 0) return 'soon'
  const digits = /^(\d{4})(\d\d)(\d\d)$/.exec(String(amount))
  return digits === null ? amount : digits.slice(1).join('-')
}
