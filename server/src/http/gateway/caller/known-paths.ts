/** The paths of the API and their methods, for messages about a wrong path or method. */
import type { FastifyInstance } from 'fastify'

interface KnownPath {
  readonly pattern: RegExp
  readonly methods: Set<string>
}

declare module 'fastify' {
  /** What a route may declare besides its handler. */
  interface FastifyContextConfig {
    /** A page for people: other methods on its path were meant for another path. */
    readonly isPage?: boolean
    /** The ends that a path with `*` may have; any if left out. */
    readonly ends?: readonly string[]
  }
}

/** The methods of a path, as a function of the path without its query. Empty if there is no such path. */
export function knownPaths(app: FastifyInstance): (path: string) => readonly string[] {
  const known = new Map<string, KnownPath>()
  app.addHook('onRoute', ({ url, method, config }) => {
    const { isPage, ends } = config ?? {}
    if (isPage === true) return
    const path = known.get(url) ?? { pattern: patternOf(url, ends), methods: new Set<string>() }
    for (const one of [method].flat()) path.methods.add(one)
    known.set(url, path)
  })
  return (path) => {
    const methods = new Set<string>()
    for (const { pattern, methods: ofPattern } of known.values())
      if (pattern.test(path)) for (const method of ofPattern) methods.add(method)
    return [...methods].sort()
  }
}

function patternOf(url: string, ends: readonly string[] | undefined): RegExp {
  const rest = ends === undefined ? '.+' : `.+(?:${ends.map((end) => RegExp.escape(end)).join('|')})`
  const steps = url.split('/').map((step) => {
    if (step === '*') return rest
    return step.startsWith(':') ? '[^/]+' : RegExp.escape(step)
  })
  return new RegExp(`^${steps.join('/')}$`)
}
