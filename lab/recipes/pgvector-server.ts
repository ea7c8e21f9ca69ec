/** PGlite with pgvector behind PostgreSQL's protocol: a database for scripts that know nothing of PGlite. It has one session, and no COPY. */
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { after } from 'node:test'
import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'

/** The address of a database that ends with the tests. */
export async function pgvectorDatabase(): Promise<string> {
  const database = await PGlite.create({ extensions: { vector } })
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    // Messages of one connection are answered in their order.
    let last = Promise.resolve()
    socket.on('data', (message: Buffer) => {
      last = last.then(async () => {
        socket.write(await database.execProtocolRaw(message))
      })
      last.catch((error: unknown) => socket.destroy(error as Error))
    })
    socket.on('error', (error) => console.error(error))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await database.close()
  })
  return `postgresql://postgres@127.0.0.1:${(server.address() as AddressInfo).port}/postgres`
}
