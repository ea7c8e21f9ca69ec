/** Environment variables, each of which may instead name a file that holds its value (`X_FILE`, as Docker secrets do). */
import { readFileSync } from 'node:fs'

export type Environment = Readonly<Record<string, string | undefined>>
export type ReadFile = (path: string) => string

export const readText: ReadFile = (path) => readFileSync(path, 'utf8')

export type VariableValue = { readonly value: string | undefined } | { readonly problem: string }

/** An empty variable counts as unset wherever a file could give the value: compose files pass empty ones. */
export function lookUp(name: string, env: Environment, readFile: ReadFile): VariableValue {
  const value = env[name]
  const file = env[`${name}_FILE`]
  if (!file) return { value }
  if (value) return { problem: `${name} and ${name}_FILE are both set: unset one of them` }
  try {
    return { value: readFile(file).replace(/\r?\n$/, '') }
  } catch (error) {
    return { problem: `${name}_FILE names ${file}, which cannot be read (${reasonOf(error)})` }
  }
}

/**
 * The same for a secret that a configuration names: an empty file is a mistake. Programs that rotate secrets empty a file
 * before they fill it.
 */
export function lookUpFilled(name: string, env: Environment, readFile: ReadFile): VariableValue {
  const found = lookUp(name, env, readFile)
  const file = env[`${name}_FILE`]
  if ('problem' in found || !file || found.value !== '') return found
  return { problem: `${name}_FILE names ${file}, which is empty` }
}

export function reasonOf(error: unknown): string {
  if (error instanceof Error)
    return 'code' in error && typeof error.code === 'string' ? error.code : error.message
  return String(error)
}
