/**
 * `npm run lab -- check/traces`: a real OpenTelemetry Collector gets the trace of a request, and its spans add up. Any `otelcol`
 * with the OTLP receiver and the debug exporter will do; `OTELCOL` is its path.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { startGateway } from '#test/support/gateway.ts'
import { eventually } from '#test/support/process.ts'
import { freePort } from '#test/support/servers.ts'
import { tied } from '#test/support/system.ts'

const PROGRAM = process.env['OTELCOL'] ?? 'otelcol'
const skip = spawnSync(PROGRAM, ['--help']).status === 0 ? false : `${PROGRAM} is not installed here`
/** Of the request's duration. */
const TOLERANCE = 0.05

interface Span {
  readonly traceId: string
  readonly parentId: string
  readonly id: string
  readonly name: string
  readonly kind: string
  readonly ms: number
}

test('a collector gets a trace whose steps add up to the duration of the request', { skip }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'torana-collector-'))
  const port = await freePort()
  const config = {
    receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port}` } } } },
    exporters: { debug: { verbosity: 'detailed' } },
    service: {
      telemetry: { metrics: { level: 'none' } },
      pipelines: { traces: { receivers: ['otlp'], exporters: ['debug'] } },
    },
  }
  const configFile = join(folder, 'collector.yaml')
  const logFile = join(folder, 'collector.log')
  writeFileSync(configFile, JSON.stringify(config))
  const log = openSync(logFile, 'a')
  const collector = spawn(...tied([PROGRAM, '--config', configFile]), { stdio: ['ignore', log, log] })
  closeSync(log)
  const exit = once(collector, 'exit')
  after(async () => {
    collector.kill('SIGTERM')
    await exit
    rmSync(folder, { recursive: true })
  })
  const readLog = (): string => readFileSync(logFile, 'utf8')
  await eventually(async () => assert.match(readLog(), /Everything is ready/, readLog()))

  const gateway = await startGateway({
    models: { 'slow-w16': { on: 'slow-300' } },
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` },
  })
  const { status, headers } = await gateway.ask({ model: 'slow-w16', input: 'a text' })
  assert.equal(status, 200)
  const traceId = (headers.get('x-request-id') ?? '').replaceAll('-', '')
  const spans = await eventually(async () => {
    const found = spansIn(readLog()).filter((span) => span.traceId === traceId)
    assert.ok(
      found.some(({ kind }) => kind === 'Server'),
      'the trace has not come',
    )
    return found
  })

  const root = spans.find(({ kind }) => kind === 'Server') as Span
  const steps = spans.filter(({ parentId }) => parentId === root.id)
  const sumMs = steps.reduce((sum, { ms }) => sum + ms, 0)
  console.log(
    `${root.name}: ${root.ms.toFixed(1)} ms; ${steps.map(({ name, ms }) => `${name} ${ms.toFixed(1)}`).join(', ')}: ${sumMs.toFixed(1)} ms`,
  )
  assert.ok(root.ms >= 300)
  assert.ok(Math.abs(sumMs - root.ms) <= root.ms * TOLERANCE, `${sumMs} of ${root.ms}`)
  assert.ok(spans.some(({ kind, name }) => kind === 'Client' && name === 'embeddings slow-w16'))
})

/** As the debug exporter prints them. */
function spansIn(text: string): readonly Span[] {
  return text
    .split(/^Span #\d+$/m)
    .slice(1)
    .map((part) => {
      const field = (name: string): string =>
        new RegExp(`^ +${name} *: (.*)$`, 'm').exec(part)?.[1]?.trim() ?? ''
      return {
        traceId: field('Trace ID'),
        parentId: field('Parent ID'),
        id: field('ID'),
        name: field('Name'),
        kind: field('Kind'),
        ms: msOf(field('End time')) - msOf(field('Start time')),
      }
    })
}

/** `2026-11-16 13:40:01.123456789 +0000 UTC` */
function msOf(text: string): number {
  const [, day, time, fraction = '0'] = /^(\S+) ([\d:]+)\.?(\d*)/.exec(text) ?? []
  return Date.parse(`${day}T${time}Z`) + Number(`0.${fraction || 0}`) * 1000
}
