/** Reads a LiteLLM configuration, writes a torana.yaml and reports what became of each entry. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { builtInFacts, ConfigError, parseSource, readConfig } from 'torana/config'
import { isMapping } from './read.ts'
import { reportText } from './report.ts'
import { toranaYaml } from './torana-file.ts'
import { translate } from './translate.ts'
import { environmentFile, type Variable } from './variables.ts'

export interface ImportFiles {
  /** Target of torana.yaml; undefined for standard output. */
  readonly output: string | undefined
  /** Target of the secrets; undefined to write none. */
  readonly secretsFile: string | undefined
  /** Whether these files may be overwritten. */
  readonly force: boolean
}

/** The process, or a test's output. */
interface Output {
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

/** Returns the exit code. Throws a `ConfigError` if nothing can be imported. */
export function importFile(config: string, { output, secretsFile, force }: ImportFiles, out: Output): number {
  for (const file of [output, secretsFile]) {
    if (file !== undefined && existsSync(file) && !force)
      throw new ConfigError([`${file}: is there already; --force overwrites it`])
  }

  const name = basename(config)
  const text = readFile(config)
  const { file, notes, variables } = translate(readLiteLlm(name, text), text, builtInFacts())
  const isWorthwhile = file.models.size > 0
  const yaml = toranaYaml(file, name)
  const used = variables.all().filter((variable) => yaml.includes(`\${${variable.name}}`))
  const { text: secrets, unwritten } = environmentFile(used)
  const problems = isWorthwhile ? problemsOf(yaml, used) : ['there is no embedding model to carry over']
  out.stderr.write(reportText({ file, notes, variables: used, secretsFile, unwritten, problems }))
  if (!isWorthwhile) return 1
  if (secretsFile !== undefined) writeSecrets(secretsFile, secrets)
  if (output === undefined) out.stdout.write(yaml)
  else writeFileSync(output, yaml)
  return problems.length > 0 ? 1 : 0
}

function readFile(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new ConfigError([`${file}: can't be read (${(error as NodeJS.ErrnoException).code})`])
  }
}

/** Throws a `ConfigError` for a file that is no mapping. Repeated keys are allowed; the last one counts. */
function readLiteLlm(name: string, text: string) {
  try {
    const source = parseSource(name, text)
    if (source.data === undefined) throw new ConfigError(source.report.problems())
    if (!isMapping(source.data))
      throw new ConfigError([`${name}: is no LiteLLM configuration: expected a mapping`])
    return source
  } catch (error) {
    // The parser recurses as deep as the file is nested.
    if (error instanceof RangeError) throw new ConfigError([`${name}: is nested too deeply to be read`])
    throw error
  }
}

/** Reads the new file as `torana check` will, with an example for each variable. */
function problemsOf(yaml: string, variables: readonly Variable[]): readonly string[] {
  const env = Object.fromEntries(variables.map(({ name, value, example }) => [name, value ?? example]))
  try {
    readConfig('torana.yaml', yaml, {
      env,
      readFile,
      facts: builtInFacts(),
      bootstrapKey: undefined,
      nowMs: Date.now(),
    })
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.problems
  }
}

/** Only the owner may read it, also if the file existed with other permissions. */
function writeSecrets(file: string, text: string): void {
  writeFileSync(file, '', { mode: 0o600 })
  chmodSync(file, 0o600)
  writeFileSync(file, text)
}
