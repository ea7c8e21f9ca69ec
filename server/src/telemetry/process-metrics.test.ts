import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { ProcessMetrics } from './process-metrics.ts'

test('the process has the figures that dashboards for Node know', async () => {
  const metrics = new ProcessMetrics()
  await wait(50)
  const text = await metrics.text()
  const valueOf = (series: string): number =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${series} `))
        ?.split(' ')[1],
    )
  const figures = [
    ['process_cpu_seconds_total', 0.01, 1000],
    ['process_start_time_seconds', Date.now() / 1000 - 3600, Date.now() / 1000 + 1],
    ['process_resident_memory_bytes', 1e7, 1e10],
    ['nodejs_eventloop_lag_max_seconds', 0.001, 10],
    ['nodejs_eventloop_lag_p99_seconds', 0.001, 10],
    ['nodejs_heap_size_used_bytes', 1e6, 1e10],
    ['nodejs_heap_space_size_used_bytes{space="old"}', 1e5, 1e10],
  ] as const
  for (const [name, least, most] of figures) {
    const value = valueOf(`torana_${name}`)
    assert.ok(value >= least && value <= most, `${name}: ${value}`)
  }
  assert.match(
    text,
    /^torana_nodejs_version_info\{version="v\d+[.\d]+",major="\d+",minor="\d+",patch="\d+"\} 1$/m,
  )
  assert.match(text, /^# TYPE torana_nodejs_gc_duration_seconds histogram$/m)
})

test('an event loop that was held is seen in the next scrape, and in no later one', async () => {
  const metrics = new ProcessMetrics()
  await metrics.text()
  await wait(50)
  const heldUntilMs = performance.now() + 300
  while (performance.now() < heldUntilMs);
  await wait(50)
  const longest = async (): Promise<number> =>
    Number(/^torana_nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(await metrics.text())?.[1])
  assert.ok((await longest()) >= 0.25)
  await wait(50)
  assert.ok((await longest()) < 0.25)
})
