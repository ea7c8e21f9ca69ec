/** `torana check [file]`: says everything that is wrong with the configuration, or what it means. */
import { command, type Shown } from '../command/command.ts'
import { paint, verdictText } from '../command/paint.ts'
import { table } from '../command/table.ts'

export const check = command({
  name: 'check',
  summary: 'check a torana.yaml and show what it declares',
  arguments: [
    { name: '<file>', says: 'the file (TORANA_CONFIG, torana.yaml if it exists)', isOptional: true },
  ],
  options: {
    'no-env': { says: 'variables need not be set: for a repository of configurations' },
    online: { says: 'ask each upstream for its models, with its credential; costs nothing' },
  },
  reach: 'none',
  more: 'Warnings flag settings that are valid but probably unintended. The exit code is 1 if there is a problem, or if an upstream does not answer.',
  examples: ['torana check', 'torana check production.yaml --no-env --json'],
  async run({ given: [file], flag, isJson, out }): Promise<Shown> {
    const { checkConfiguration } = await import('../check/configuration-check.ts')
    const { problems, warnings, read } = checkConfiguration({ file, usesEnvironment: !flag('no-env') })
    const isGood = problems.length === 0 && read !== undefined
    const notes = [
      ...warnings.map((warning) => `${warning} ${paint('yellow', '(warning)', out)}`),
      ...problems,
      ...(isGood ? [] : ['', `${problems.length} problem${problems.length === 1 ? '' : 's'}`]),
    ].join('\n')
    const note = notes !== '' && !isJson ? { note: notes } : {}
    if (!isGood) return { data: { ok: false, problems, warnings }, ...note, exitCode: 1 }
    const { settings, loaded } = read
    const { summary } = await import('../check/summary.ts')
    const { askUpstreams } = await import('../check/online.ts')
    const upstreams = flag('online') ? await askUpstreams(settings, loaded.catalog) : []
    const ok = upstreams.every(({ verdict }) => verdict !== 'fail')
    const rows = upstreams.map(({ upstream, verdict, says }) => [upstream, verdictText(verdict, out), says])
    const asked = rows.length === 0 ? '' : table([['upstream', 'verdict', 'finding'], ...rows])
    const models = [...new Set(loaded.catalog.models.values())].map(({ id }) => id)
    return {
      data: { ok, problems, warnings, models, upstreams },
      text: `${summary(settings, loaded.catalog)}${asked}`,
      ...note,
      exitCode: ok ? 0 : 1,
    }
  },
})
