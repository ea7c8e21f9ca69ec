/** `torana start`: runs a node until a signal stops it. */
import { command, type Option, type Options } from '../command/command.ts'
import { hearSignals } from '../serve/stop-signals.ts'

/** What `demo` takes, too. */
export const LISTENER_OPTIONS = {
  port: { takes: '<n>', says: 'port of the public API (PORT, 8080)', variable: 'PORT' },
  host: { takes: '<address>', says: 'address of the public API (HOST, 127.0.0.1)', variable: 'HOST' },
  'control-port': {
    takes: '<n>',
    says: 'port of the console and the control API (CONTROL_PORT, 8081)',
    variable: 'CONTROL_PORT',
  },
} as const satisfies Options

const OPTIONS = {
  config: {
    takes: '<file>',
    says: 'the configuration file (TORANA_CONFIG, torana.yaml if it exists)',
    variable: 'TORANA_CONFIG',
  },
  'data-dir': {
    takes: '<folder>',
    says: 'the data folder (TORANA_DATA_DIR, .torana)',
    variable: 'TORANA_DATA_DIR',
  },
  ...LISTENER_OPTIONS,
  workers: {
    takes: '<n>',
    says: 'worker processes behind one pair of ports, or auto: one per core (TORANA_WORKERS)',
    variable: 'TORANA_WORKERS',
  },
  role: {
    takes: '<role>',
    says: 'all, gateway, control or worker: what this process does (TORANA_ROLE)',
    variable: 'TORANA_ROLE',
  },
} as const satisfies Options

export const start = command({
  name: 'start',
  summary: 'start the gateway (the default)',
  options: OPTIONS,
  reach: 'none',
  isPlain: true,
  more: 'All other settings are environment variables and torana.yaml: docs/configuration.md. SIGTERM and Ctrl-C end it in order, SIGHUP reads torana.yaml again; with --workers it replaces the workers one by one.',
  examples: ['torana start', 'torana start --port 9000 --config production.yaml'],
  async run(call) {
    // Before the rest of the program is loaded: a signal that arrives meanwhile ends the process in order.
    hearSignals()
    const { serve } = await import('../serve/serve.ts')
    return serve({ ...process.env, ...variablesIn(OPTIONS, call.text) }, call.out)
  },
})

/** The variables that options were given for. */
export function variablesIn<Name extends string>(
  options: Readonly<Record<Name, Option>>,
  text: (option: Name) => string | undefined,
): Record<string, string> {
  const variables: Record<string, string> = {}
  for (const [name, { variable }] of Object.entries(options) as [Name, Option][]) {
    const value = text(name)
    if (variable !== undefined && value !== undefined) variables[variable] = value
  }
  return variables
}
