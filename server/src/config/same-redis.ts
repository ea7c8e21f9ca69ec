const DEFAULT_PORT = '6379'

/** Databases of one server share its memory, so their numbers make no difference. */
export function isSameRedis(one: string, other: string): boolean {
  const [first, second] = [URL.parse(one), URL.parse(other)]
  if (first === null || second === null || first.hostname === '') return false
  return first.hostname === second.hostname && (first.port || DEFAULT_PORT) === (second.port || DEFAULT_PORT)
}
