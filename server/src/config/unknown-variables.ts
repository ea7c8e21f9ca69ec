import { environmentVariables, type Variable } from './variables.ts'
import { didYouMean } from './file/problem.ts'
import { readText, type Environment } from './file/variable.ts'

/** Variables of the client examples: they are often in the same shell. */
const OF_CLIENTS = ['TORANA_KEY', 'TORANA_BASE_URL']
/** A supervisor says it to a worker that joins others: it answers at their addresses only when it is ready. */
export const JOINS_OTHERS = 'TORANA_JOINS_OTHERS'

/** A warning for each variable that looks like one of Torana's but is none, unless the configuration file uses it. */
export function unknownVariables(env: Environment, configFile: string | undefined): readonly string[] {
  const known = Object.entries<Variable>(environmentVariables).flatMap(([name, { secret }]) =>
    secret ? [name, `${name}_FILE`] : [name],
  )
  const others = new Set([...known, ...OF_CLIENTS, JOINS_OTHERS])
  const unknown = Object.keys(env).filter((name) => name.startsWith('TORANA_') && !others.has(name))
  if (unknown.length === 0) return []
  const used = configFile === undefined ? '' : readText(configFile)
  return unknown
    .filter((name) => !used.includes(`{${name.replace(/_FILE$/, '')}`))
    .map((name) => `${name}: Torana has no such variable and ignores it.${didYouMean(name, known)}`)
}
