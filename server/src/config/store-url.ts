/** The URL of a store when a connection is opened: its file may have another password by then. */
import { lookUpFilled, readText, type Environment, type ReadFile } from './file/variable.ts'

export type StoreVariable = 'DATABASE_URL' | 'REDIS_URL' | 'CACHE_URL'

/** Returns the URL for the next connection. */
export type UrlNow = () => string

interface Given {
  /** As it was at the start. */
  readonly url: string
  readonly env: Environment
  /** Receives the reason why the file is not used, once for each reason in a row. It contains no URL, which may hold a password. */
  readonly onProblem: (problem: string) => void
  readonly readFile?: ReadFile
}

/**
 * Without a file, the URL never changes. With one, each new connection takes user and password from it; an unusable file is
 * reported, and the last good one stays. Another server or database needs a restart: a node that moved amid its work would
 * leave its records behind.
 */
export function storeUrlNow(
  name: StoreVariable,
  { url, env, onProblem, readFile = readText }: Given,
): UrlNow {
  if (!env[`${name}_FILE`]) return () => url
  let last = url
  let reported: string | undefined
  return () => {
    const found = lookUpFilled(name, env, readFile)
    const problem = 'problem' in found ? found.problem : problemWith(name, found.value ?? '', url)
    if (problem !== undefined && problem !== reported) onProblem(problem)
    reported = problem
    if (problem === undefined && 'value' in found) last = found.value ?? last
    return last
  }
}

function problemWith(name: StoreVariable, text: string, started: string): string | undefined {
  const [now, before] = [withoutUser(text), withoutUser(started)]
  if (now === undefined) return `${name}_FILE holds no URL`
  return now === before
    ? undefined
    : `${name}_FILE names another server, database or option than at the start: restart the node to use it`
}

function withoutUser(text: string): string | undefined {
  const url = URL.parse(text)
  if (url === null) return undefined
  url.username = ''
  url.password = ''
  return url.href
}
