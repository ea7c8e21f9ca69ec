/** The library's client, which a connection loads when it first opens: most nodes have no Redis, and start without it. */
import { ErrorReply, RedisClient, RESP_TYPES } from '@redis/client'
import { certificatesIn } from './certificates.ts'

/** Deadline of the connection and its greeting: three round trips with TLS, also across a continent. */
export const CONNECT_DEADLINE_MS = 1000

export type Client = ReturnType<typeof newClient>

/** Strings are returned as bytes: no value is taken for text. */
const AS_BYTES = { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } }

/**
 * The class of clients, created once. The library's own `createClient` caches only the class of the last options, and blocks the
 * event loop for 75 ms and more to create another: with two unreachable servers it would do so at every attempt.
 */
function makeClientClass() {
  return RedisClient.factory()
}

let clientOf: ReturnType<typeof makeClientClass> | undefined

/**
 * The library neither queues, nor reconnects, nor measures time: one timer for each of its commands would cost more than the command.
 */
export function newClient(given: string) {
  clientOf ??= makeClientClass()
  const { url, tls } = certificatesIn(given)
  return clientOf({
    url,
    name: 'torana',
    disableOfflineQueue: true,
    commandOptions: { timeout: 0 },
    maintNotifications: 'disabled',
    socket: { connectTimeout: CONNECT_DEADLINE_MS, reconnectStrategy: false, ...tls },
  })
}

/** The reply, strings as bytes. A refusal is a reply too, the `ErrorReply`. */
export function sendForBytes(client: Client, command: readonly (string | Buffer)[]): Promise<unknown> {
  return client.sendCommand(command, AS_BYTES).catch((error: unknown) => {
    if (error instanceof ErrorReply) return error
    throw error
  })
}
