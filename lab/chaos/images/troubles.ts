/** Other troubles of image jobs: the store dies, the disk is full, clients leave in the middle. */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { GATEWAY_KEY } from '../../../server/test/support/gateway.ts'
import { killFor } from '../faults.ts'
import type { Random } from '../../../server/test/support/random.ts'
import { ask, order, promptDigest, type Answer, type Order } from './client.ts'
import { startImageGateway } from './gateway.ts'
import { newPlace, type House } from './house.ts'
import { allEnded } from './kill.ts'
import { servedByPrompt, testify, type Tally } from './witnesses.ts'

/** A client that never gives up must not wait forever. */
const PATIENCE_MS = 180_000
const PAUSE_MS = 500

/** Asks until the answer is final, as the SDKs do by `x-should-retry`, but without end. */
async function persist(url: string, one: Order): Promise<Answer> {
  const endMs = performance.now() + PATIENCE_MS
  for (;;) {
    const answer = await ask(url, one).catch(() => undefined)
    if (answer?.status === 200 || answer?.shouldRetry === 'false') return answer
    if (performance.now() > endMs)
      throw new Error(`${one.body.prompt}: no final answer, the last was ${answer?.status} ${answer?.code}`)
    await wait(PAUSE_MS)
  }
}

/** PostgreSQL is killed during the jobs, and comes back. */
export async function storeDies(
  house: House,
  { jobs, awayMs }: { readonly jobs: number; readonly awayMs: number },
  random: Random,
): Promise<Tally> {
  const name = `store-away-${awayMs}`
  const place = await newPlace(house, name)
  const gateway = await startImageGateway(place, { name: 'gateway', dataDir: 'data' })
  try {
    const orders = Array.from({ length: jobs }, (_, index) =>
      order(name, index, { model: index % 2 === 0 ? 'slow' : 'polled-slow' }),
    )
    const answers = orders.map(async (one) => {
      await wait(random.next() * 1000)
      return persist(gateway.url, one)
    })
    await wait(500 + random.next() * 1000)
    await killFor(house.postgres, awayMs)
    await Promise.all(answers)
    await allEnded(place)
    const title = `PostgreSQL away for ${awayMs / 1000} s`
    const tally = await testify(place, gateway.url, orders, { name: title, kills: 1, afterwards: 'either' })
    const crash = gateway.crash()
    return { ...tally, other: [...tally.other, ...(crash === undefined ? [] : [crash])] }
  } finally {
    await gateway.kill9()
  }
}

/** A client that waits for base64 gets the image although it can't be stored, and asking again buys nothing. */
export async function diskFull(house: House, jobs: number): Promise<Tally | undefined> {
  const name = 'disk-full'
  const place = await newPlace(house, name)
  const disk = join(place.folder, 'full')
  mkdirSync(disk)
  try {
    // Space for one image of two megabytes.
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', disk], { stdio: 'ignore' })
  } catch {
    return undefined
  }
  try {
    const gateway = await startImageGateway(place, { name: 'gateway', dataDir: 'data', assets: disk })
    const fields = { response_format: 'b64_json' }
    const orders = Array.from({ length: jobs }, (_, index) => order(name, index, { model: 'large', fields }))
    try {
      const answers = await Promise.all(orders.map((one) => persist(gateway.url, one)))
      const replays = await Promise.all(orders.map((one) => ask(gateway.url, one)))
      return fullTally(house, orders, answers, replays)
    } finally {
      await gateway.kill9()
    }
  } finally {
    execFileSync('umount', ['--lazy', disk])
  }
}

function fullTally(
  house: House,
  orders: readonly Order[],
  answers: readonly Answer[],
  replays: readonly Answer[],
): Tally {
  const served = servedByPrompt(house)
  const rows = orders.map((one, index) => {
    const bought = served.get(promptDigest(one)) ?? []
    const got = answers[index]?.pictures.some(({ sha256 }) => bought.includes(sha256)) === true
    return { bought: bought.length, got, prompt: one.body.prompt, status: answers[index]?.status }
  })
  const missed = rows.filter(({ got }) => !got)
  return {
    name: 'disk full',
    kills: 0,
    jobs: orders.length,
    served: rows.reduce((sum, { bought }) => sum + bought, 0),
    delivered: replays.filter(({ status }) => status === 200).length,
    retrieved: rows.length - missed.length,
    second: rows.reduce((sum, { bought }) => sum + Math.max(0, bought - 1), 0),
    unknown: 0,
    lost: missed.length,
    other: missed.map(({ prompt, status }) => `lost: ${prompt}: answered ${status}`),
  }
}

/** Clients leave at a random byte of the request or the answer; then each asks again with its key. */
export async function clientsLeave(house: House, clients: number, random: Random): Promise<Tally> {
  const name = 'clients-leave'
  const place = await newPlace(house, name)
  const gateway = await startImageGateway(place, { name: 'gateway', dataDir: 'data' })
  try {
    const orders = Array.from({ length: clients }, (_, index) =>
      order(name, index, { model: index % 4 === 0 ? 'slow' : 'plain' }),
    )
    await Promise.all(orders.map((one) => leaveAmid(gateway.url, one, random)))
    await Promise.all(orders.map((one) => persist(gateway.url, one)))
    await allEnded(place)
    return await testify(place, gateway.url, orders, {
      name: 'clients leave',
      kills: 0,
      afterwards: 'pictures',
    })
  } finally {
    await gateway.kill9()
  }
}

/** Longer than the answer with a small image in base64, so that some get all of it. */
const LONGEST_ANSWER_BYTES = 4000

async function leaveAmid(url: string, { idempotencyKey, body }: Order, random: Random): Promise<void> {
  const { hostname, port } = new URL(url)
  const text = JSON.stringify(body)
  const head = [
    'POST /v1/images/generations HTTP/1.1',
    `host: ${hostname}`,
    `authorization: Bearer ${GATEWAY_KEY}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(text)}`,
    `idempotency-key: ${idempotencyKey}`,
  ]
  const request = `${head.join('\r\n')}\r\n\r\n${text}`
  const isCutInRequest = random.next() < 0.3
  const sent = isCutInRequest ? request.slice(0, random.below(request.length)) : request
  // At the very first byte: before any answer.
  const enough = isCutInRequest ? 0 : random.below(LONGEST_ANSWER_BYTES)
  const waitMs = random.next() * 2000
  const socket = connect(Number(port), hostname)
  let received = 0
  socket.on('error', () => {})
  socket.on('data', (chunk: Buffer) => {
    received += chunk.length
    if (received >= enough) socket.destroy()
  })
  const closed = once(socket, 'close')
  await once(socket, 'connect')
  socket.write(sent)
  const timer = setTimeout(() => socket.destroy(), waitMs)
  await closed
  clearTimeout(timer)
}
