import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { METRICS } from '#telemetry/metric-list.ts'
import { DASHBOARDS } from '../../../lab/monitoring/dashboards.ts'

const ROOT = join(import.meta.dirname, '../../..')
const { groups } = parse(readFileSync(join(ROOT, 'deploy/monitoring/alerts.yaml'), 'utf8')) as {
  readonly groups: readonly { readonly rules: readonly Rule[] }[]
}
const rules = groups.flatMap((group) => group.rules)

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly for: string
  readonly annotations: { readonly summary: string; readonly runbook_url: string }
}

/** Names of metrics in a query, without the suffixes that Prometheus adds to a histogram. */
function metricsIn(query: string): string[] {
  return [...query.matchAll(/\btorana_\w+/g)].map(([name]) =>
    name in METRICS ? name : name.replace(/_(?:bucket|sum|count)$/, ''),
  )
}

/** `by (model)`, `{state="x"}`: labels that a query names. */
function labelsIn(query: string): string[] {
  const grouped = [...query.matchAll(/by \(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(/,\s*/))
  const matched = [...query.matchAll(/(\w+)(?:=~|!=|!~|=)"/g)].map(([, name = '']) => name)
  return [...grouped, ...matched]
}

/** Of Prometheus itself. */
const OUTSIDE = new Set(['le', 'instance', 'job'])

test('dashboards and alerts ask for metrics and labels that a node has', () => {
  const queries = [
    ...DASHBOARDS.flatMap(({ panels }) => panels.flatMap((panel) => panel.queries.map(({ expr }) => expr))),
    ...rules.map(({ expr }) => expr),
  ]
  for (const query of queries) {
    const names = metricsIn(query)
    const known = names.map((name) => METRICS[name as keyof typeof METRICS])
    assert.ok(known.every(Boolean), query)
    const labels = new Set([...OUTSIDE, ...known.flatMap((metric) => metric.labels)])
    for (const label of labelsIn(query)) assert.ok(labels.has(label), `${label} in ${query}`)
  }
})

test('each alert has its section in the runbook, its link, and its test', () => {
  const runbook = readFileSync(join(ROOT, 'docs/runbook.md'), 'utf8')
  const tests = readFileSync(join(ROOT, 'deploy/monitoring/alerts.test.yaml'), 'utf8')
  const sections = [...runbook.matchAll(/^## (\w+)$/gm)].map(([, name]) => name)
  assert.deepEqual(
    sections,
    rules.map(({ alert }) => alert),
  )
  for (const { alert, annotations } of rules) {
    assert.ok(annotations.runbook_url.endsWith(`/docs/runbook.md#${alert.toLowerCase()}`), alert)
    assert.ok(tests.includes(`alertname="${alert}"`), alert)
    const section = runbook.split(`## ${alert}\n`)[1]?.split('\n## ')[0] ?? ''
    for (const part of ['Meaning', 'Look', 'Do'])
      assert.ok(section.includes(`**${part}**: `), `${alert}: ${part}`)
  }
})
