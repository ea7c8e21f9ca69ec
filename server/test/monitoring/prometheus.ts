/** A real Prometheus with the alert rules of deploy/, and a real Alertmanager behind it. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '#test/support/process.ts'
import { freePort } from '#test/support/servers.ts'

const RULES = join(import.meta.dirname, '../../../deploy/monitoring/alerts.yaml')
const PROGRAMS = ['prometheus', 'promtool', 'prometheus-alertmanager']

/** Programs that this machine lacks. */
export function missingPrograms(): readonly string[] {
  return PROGRAMS.filter((name) => spawnSync(name, ['--version']).error !== undefined)
}

export interface Monitoring {
  /** Number of series in the answer to a query. */
  ask(query: string): Promise<number>
  /** Names of the alerts that Alertmanager has. */
  alerts(): Promise<ReadonlySet<string>>
  stop(): void
}

/** Shortens the rules: every pause becomes a second, every window half a minute. */
function shortened(rules: string): string {
  return rules.replaceAll(/for: \S+/g, 'for: 1s').replaceAll(/\[\d+[mh]\]/g, '[30s]')
}

export async function startMonitoring(folder: string, targets: readonly string[]): Promise<Monitoring> {
  const [prometheusPort, alertmanagerPort] = [await freePort(), await freePort()]
  const [prometheus, alertmanager] = [
    `http://127.0.0.1:${prometheusPort}`,
    `http://127.0.0.1:${alertmanagerPort}`,
  ]
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const rules = file('alerts.yaml', shortened(readFileSync(RULES, 'utf8')))
  const config = file(
    'prometheus.yaml',
    JSON.stringify({
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: [rules],
      scrape_configs: [{ job_name: 'torana', static_configs: [{ targets }] }],
      alerting: {
        alertmanagers: [{ static_configs: [{ targets: [`127.0.0.1:${alertmanagerPort}`] }] }],
      },
    }),
  )
  const routes = file('alertmanager.yaml', 'route: { receiver: nobody }\nreceivers: [{ name: nobody }]\n')
  const start = (program: string, args: readonly string[]): ChildProcess =>
    spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  const children = [
    start('prometheus-alertmanager', [
      `--config.file=${routes}`,
      `--storage.path=${join(folder, 'alertmanager')}`,
      `--web.listen-address=127.0.0.1:${alertmanagerPort}`,
      '--cluster.listen-address=',
      '--log.level=error',
    ]),
    start('prometheus', [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, 'prometheus')}`,
      `--web.listen-address=127.0.0.1:${prometheusPort}`,
      '--log.level=error',
    ]),
  ]
  const stop = (): void => children.forEach((child) => child.kill())
  process.once('exit', stop)
  await eventually(async () => {
    if (!(await fetch(`${prometheus}/-/ready`)).ok) throw new Error('Prometheus is not ready')
    if (!(await fetch(`${alertmanager}/-/ready`)).ok) throw new Error('Alertmanager is not ready')
  })
  return {
    async ask(query) {
      const answer = await fetch(`${prometheus}/api/v1/query?query=${encodeURIComponent(query)}`)
      const { status, data, error } = (await answer.json()) as {
        readonly status: string
        readonly data: { readonly result: readonly unknown[] }
        readonly error?: string
      }
      if (status !== 'success') throw new Error(`${query}: ${error}`)
      return data.result.length
    },
    async alerts() {
      const answer = await fetch(`${alertmanager}/api/v2/alerts`)
      const alerts = (await answer.json()) as readonly { readonly labels: { readonly alertname: string } }[]
      return new Set(alerts.map(({ labels }) => labels.alertname))
    },
    stop,
  }
}
