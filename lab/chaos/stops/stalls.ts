/** Clients that hold on to a stopping gateway. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { until } from '../../processes.ts'
import { callsIn } from '../ledger-checks.ts'
import { KEY, startGatewayToStop, type House, type StoppedEnd } from './house.ts'

/** Inputs of 1,536 numbers each: about 4 MB, more than the system's buffers take. */
const INPUTS = 200

export interface Stalls {
  /** Clients that read nothing of their answers. */
  readonly readers: number
  /** Clients that never finish their bodies; as many connect and send nothing at all. */
  readonly writers: number
  /** Images in progress. */
  readonly jobs: number
}

export interface StalledEnd extends StoppedEnd {
  /** Statuses of the clients that waited for images. */
  readonly pictures: readonly number[]
  /** Calls that the upstream served, and calls in the ledger after the next start. */
  readonly served: number
  readonly inLedger: number
}

export async function stopWithStalls(house: House, { readers, writers, jobs }: Stalls): Promise<StalledEnd> {
  const { provider } = house
  const gateway = await startGatewayToStop(house)
  const url = await gateway.ready()
  const servedBefore = provider.counters().served
  const ledgerBefore = await callsIn(house.database)
  const sockets = await Promise.all([
    ...Array.from({ length: readers }, (_, index) => stalledReader(url, index)),
    ...Array.from({ length: writers }, () => stalledWriter(url)),
    ...Array.from({ length: writers }, () => opened(url)),
  ])
  await until(
    'the readers are served',
    PATIENCE_MS,
    () => provider.counters().served >= servedBefore + readers,
  )
  // Their answers begin to be written.
  await wait(500)
  const callsBefore = provider.counters().calls
  const pictures = Array.from({ length: jobs }, (_, index) => picture(url, index))
  await until(
    'the images are in progress',
    PATIENCE_MS,
    () => provider.counters().calls >= callsBefore + jobs,
  )
  const end = await gateway.stop()
  const statuses = await Promise.all(pictures)
  for (const socket of sockets) socket.destroy()
  // The next start writes what the first left on its disk into the ledger.
  const next = await startGatewayToStop(house, gateway.name)
  await next.ready()
  const inLedger = (await callsIn(house.database)) - ledgerBefore
  await next.stop()
  return { ...end, pictures: statuses, served: provider.counters().served - servedBefore, inLedger }
}

/** Long enough for a busy machine. */
const PATIENCE_MS = 60_000

async function opened(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname).on('error', () => {})
  await once(socket, 'connect')
  return socket
}

const HEAD = `POST /v1/embeddings HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${KEY}\r\ncontent-type: application/json\r\n`

async function stalledReader(url: string, number: number): Promise<Socket> {
  const socket = (await opened(url)).pause()
  const input = Array.from({ length: INPUTS }, (_, index) => `text ${number} ${index}`)
  const body = JSON.stringify({ model: 'large-w1536', input, encoding_format: 'float' })
  socket.write(`${HEAD}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  return socket
}

async function stalledWriter(url: string): Promise<Socket> {
  const socket = await opened(url)
  socket.write(`${HEAD}content-length: 100000\r\n\r\n{"model":"large-w1536","input":"`)
  return socket
}

/** 0 when the connection was cut. */
async function picture(url: string, number: number): Promise<number> {
  try {
    const answer = await fetch(`${url}/v1/images/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'slow-image', prompt: `picture ${number}` }),
    })
    await answer.arrayBuffer()
    return answer.status
  } catch {
    return 0
  }
}
