/** A stream without events is kept alive. The clock of these tests is moved by hand: the pause is fifteen seconds. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setImmediate as yieldLoop } from 'node:timers/promises'
import { Fault } from '#core/fault/fault.ts'
import { ImageEvents } from '#http/gateway/images/events.ts'
import { eventsIn } from '#test/support/image-answers.ts'
import { anImageRequest } from '#test/support/images.ts'

const PREVIEW_BYTES = Buffer.alloc(300_000, 'preview')

type Story = (events: ImageEvents, beats: (count: number) => void) => Promise<void>

/** The events that a client reads in this story. Only this test's clock is moved: other files share the process. */
async function streamOf(
  { mock: { timers } }: TestContext,
  story: Story,
): Promise<Parameters<typeof eventsIn>[0]> {
  timers.enable({ apis: ['setInterval'] })
  const beats = (count: number): void => timers.tick(15_000 * count)
  const server = createServer((_, response) => {
    void story(
      new ImageEvents(response, 'a-request', {
        asked: anImageRequest(),
        ends: undefined,
        nowMs: Date.now,
        yieldLoop,
      }),
      beats,
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
      signal: AbortSignal.timeout(30_000),
    })
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

const preview = (events: ImageEvents, index: number): void =>
  events.preview({ index, bytes: PREVIEW_BYTES, echoes: { size: '96x64' } })
const fault = new Fault('outcome_unknown', 'the answer did not arrive')

test('heartbeats come between events, never inside one', async (t) => {
  const answer = await streamOf(t, async (events, beats) => {
    preview(events, 0)
    beats(2)
    preview(events, 1)
    beats(3)
    await events.fail(fault, 'http://docs.test')
  })
  const seen = eventsIn(answer)
  assert.deepEqual(
    seen.map(({ data }) => [data.type, data.partial_image_index]),
    [
      ['image_generation.partial_image', 0],
      ['image_generation.partial_image', 1],
      ['error', undefined],
    ],
  )
  for (const { data } of seen.slice(0, 2))
    assert.ok(Buffer.from(data.b64_json ?? '', 'base64').equals(PREVIEW_BYTES))
  assert.equal(answer.text.match(/^: waiting\n\n/gm)?.length, 5)
})

test('a caller that has waited long gets a heartbeat; a later failure is an event', async (t) => {
  const answer = await streamOf(t, async (events, beats) => {
    beats(1)
    assert.equal(await events.fail(fault, 'http://docs.test'), true)
  })
  assert.match(answer.text, /^: waiting\n\nevent: error\n/)
  assert.equal(eventsIn(answer)[0]?.data.error?.code, 'outcome_unknown')
})

test('after the end no heart beats', async (t) => {
  const answer = await streamOf(t, async (events, beats) => {
    preview(events, 0)
    await events.fail(fault, 'http://docs.test')
    beats(3)
  })
  assert.doesNotMatch(answer.text, /waiting/)
  assert.equal(eventsIn(answer).length, 2)
})
