import { readFileSync } from 'node:fs'
import { CommandProblem } from '../client/command-problem.ts'

/** A secret from a file, or from standard input: on the command line every user of the machine could read it. */
export function readSecret(file: string): string {
  const name = file === '-' ? 'Standard input' : file
  let secret: string
  try {
    secret = readFileSync(file === '-' ? 0 : file, 'utf8').trim()
  } catch (error) {
    throw new CommandProblem(`${name} cannot be read: ${(error as Error).message}`)
  }
  if (secret === '') throw new CommandProblem(`${name} is empty.`)
  return secret
}
