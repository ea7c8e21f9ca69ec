/** Bodies of the control API: read once the caller is known, from the memory that all bodies of the node share. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Fault } from '#core/fault/fault.ts'
import type { BodyRoom } from '#http/gate/body-room.ts'
import { refuseEncoded } from '#http/gate/encoding.ts'
import { parseJson } from '#http/gate/parse-json.ts'
import { receiveBody } from '#http/gate/receive-body.ts'
import { checkTexts } from '#http/gate/texts.ts'
import { CALLER, type Caller } from './caller.ts'

/** The framework reads nothing by itself: neither for a route without a body, nor for a path that does not exist. */
export function readBodies(scope: FastifyInstance, bodyRoom: BodyRoom): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
  scope.addHook('preValidation', async (request, reply) => {
    request.body = await bodyOf(request, reply, bodyRoom)
  })
}

async function bodyOf(
  request: FastifyRequest,
  { raw: response }: FastifyReply,
  bodyRoom: BodyRoom,
): Promise<unknown> {
  const { raw, headers } = request
  const { json } = request.routeOptions.config.bounds ?? {}
  const isEmpty = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0
  if (json === undefined) return undefined
  refuseEncoded(raw)
  if (isEmpty && headers['content-type'] === undefined) return undefined
  const caller = request.getDecorator<Caller | null>(CALLER)
  using held = new DisposableStack()
  const bytes = await receiveBody(raw, response, json, bodyRoom, () => ({
    ...senderOf(caller),
    count: () => undefined,
    hold: (room) => void held.use(room),
  }))
  const { value } = parseJson(bytes)
  refusePrototypes(value)
  checkTexts(value)
  return value
}

/** A field of this name would change the object that it is copied into, wherever that is done. */
function refusePrototypes(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  if (Object.hasOwn(value, '__proto__'))
    throw new Fault('invalid_json', 'The body has a field called __proto__. Send it without.')
  for (const inner of Object.values(value)) refusePrototypes(inner)
}

/** No project has a name with a space in it. */
function senderOf(caller: Caller | null): { readonly share: string; readonly shownAs: string } {
  return caller === null
    ? { share: 'not signed in', shownAs: 'clients that are not signed in' }
    : { share: `console ${caller.actor}`, shownAs: caller.actor }
}
