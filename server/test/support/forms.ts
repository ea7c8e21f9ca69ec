/** Multipart bodies for tests, and a small server that reads them as the gateway does. */
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import sharp from 'sharp'
import { Fault } from '#core/fault/fault.ts'
import { defaultLimits, type Limits } from '#core/settings.ts'
import { sharedYield } from '#runtime/event-loop.ts'
import { readForm, type Form } from '#http/gateway/uploads/multipart.ts'
import { endUnread } from '#http/gate/unread.ts'
import { DiskUploads } from '#stores/uploads/disk.ts'
import { testFolder } from './disk.ts'

export const BOUNDARY = 'a-boundary-of-tests'

export interface FormPart {
  readonly name: string
  readonly filename?: string
  readonly type?: string
  readonly value: string | Uint8Array
}

export function formBody(parts: readonly FormPart[], boundary = BOUNDARY): Buffer {
  const pieces = parts.flatMap(({ name, filename, type, value }) => {
    const file = filename === undefined ? '' : `; filename="${filename}"`
    const contentType = type === undefined ? '' : `content-type: ${type}\r\n`
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${file}\r\n${contentType}\r\n`
    return [Buffer.from(head), Buffer.from(value), Buffer.from('\r\n')]
  })
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)])
}

/** A real PNG; each shade another one. */
export async function png(shade = 0, width = 4, height = 3): Promise<Buffer> {
  return sharp({ create: { width, height, channels: 4, background: { r: shade, g: 0, b: 0, alpha: 0.5 } } })
    .png()
    .toBuffer()
}

export interface ReadAnswer {
  readonly fields: Form['fields']
  readonly files: readonly {
    readonly field: string
    readonly size: number
    readonly sha256: string
    readonly width: number
  }[]
}

export interface FaultAnswer {
  readonly code: string
  readonly message: string
  readonly param: string | undefined
}

export interface FormServer {
  readonly url: string
  readonly uploads: DiskUploads
  /** How each request ended that was read to an end, in that order. */
  readonly outcomes: ('form' | Fault)[]
  /** Rejects unless, within a while, no request is read, no file is open and none lies in the folder. */
  atRest(): Promise<void>
}

const REST_MS = 20_000

export async function startFormServer(overrides: Partial<Limits> = {}): Promise<FormServer> {
  const limits = { ...defaultLimits, ...overrides }
  const folder = join(testFolder(), 'uploads')
  const uploads = await DiskUploads.open(folder, { maxBytes: limits.uploadBytes })
  const outcomes: ('form' | Fault)[] = []
  let reading = 0

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      const form = await readForm(request, { uploads, limits, yieldOnArrival: sharedYield(4) })
      outcomes.push('form')
      const files = form.files.map(({ field, upload, header }) => ({
        field,
        size: upload.size,
        sha256: upload.sha256,
        width: header.width,
      }))
      await Promise.all(form.files.map(({ upload }) => upload.discard()))
      response.end(JSON.stringify({ fields: form.fields, files } satisfies ReadAnswer))
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      outcomes.push(error)
      const { code, message, param } = error
      const body = JSON.stringify({ code, message, param } satisfies FaultAnswer)
      if (!request.complete) response.setHeader('connection', 'close')
      response.writeHead(error.entry.status, { 'content-length': Buffer.byteLength(body) })
      response.end(body)
      if (!request.complete) endUnread(request, response)
    }
  }
  const server = createServer((request, response) => {
    reading += 1
    void serve(request, response).finally(() => (reading -= 1))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    uploads,
    outcomes,
    async atRest() {
      const untilMs = Date.now() + REST_MS
      for (;;) {
        const state = { reading, ...uploads.inUse(), entries: readdirSync(folder).length }
        if (Object.values(state).every((count) => count === 0)) return
        if (Date.now() > untilMs) throw new Error(`not at rest: ${JSON.stringify(state)}`)
        await delay(5)
      }
    },
  }
}
