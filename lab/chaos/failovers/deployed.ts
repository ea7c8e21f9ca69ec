/** The files of `deploy/failover`, which run here with other addresses, ports and folders. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = join(import.meta.dirname, '../../../deploy/failover')

export function deployed(file: 'haproxy.cfg' | 'patroni.yaml' | 'redis.conf' | 'sentinel.conf'): string {
  return readFileSync(join(FOLDER, file), 'utf8')
}

/** The text with all of these replaced. Each must be found, so that a changed file is noticed. */
export function replaced(text: string, by: readonly (readonly [string | RegExp, string])[]): string {
  return by.reduce((before, [what, instead]) => {
    const after = before.replaceAll(what, () => instead)
    if (after === before) throw new Error(`deploy/failover: there is no ${String(what)} to replace`)
    return after
  }, text)
}

/** Programs that a proof needs and this machine lacks. */
export function missing(programs: readonly string[]): readonly string[] {
  const folders = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin', '/usr/lib/postgresql/*/bin']
  return programs.filter((program) => folders.every((folder) => globSync(join(folder, program)).length === 0))
}
