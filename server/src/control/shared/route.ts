/** How a route of the control API is declared: its permission, its schemas, and what it answers beside success. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { faultAnswers, type Answering } from '#http/fault-answers.ts'
import type { RouteAccess } from './caller.ts'

export type Api = FastifyInstance

type Schema = z.ZodType
type Answers = Readonly<Record<number, Schema>>

interface Declared<
  Params extends Schema,
  Query extends Schema,
  Body extends Schema,
  Answer extends Schema,
  Others extends Answers,
> {
  readonly permission: RouteAccess
  /** The operation's id in the contract, and the name of the console's function. */
  readonly id: string
  readonly summary: string
  readonly description?: string
  /** Media types of the body. Default: JSON. */
  readonly consumes?: readonly string[]
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  /** The body of a 200. */
  readonly answer?: Answer
  /** Bodies of other statuses of success. */
  readonly answers?: Others
  /** Statuses of faults beyond those of every route: 400, 401, 403, 421, 429, 503, and 404 where the path has a parameter. */
  readonly faults?: readonly number[]
  /** Whose codes its faults have. Default: those of the control API. */
  readonly answering?: Answering
  /** A route that answers without the store has no 503. */
  readonly needsStore?: false
  /** Takes the request from the framework before its body is read. */
  readonly onRequest?: (request: FastifyRequest, reply: FastifyReply) => Promise<void>
  readonly handler: (
    request: FastifyRequest<{ Params: z.output<Params>; Querystring: z.output<Query>; Body: z.output<Body> }>,
    reply: FastifyReply,
  ) => Promise<z.input<Answer> | z.input<Others[keyof Others]> | FastifyReply>
}

/** `line` is the method and the path, such as `GET /unknowns`. */
export function route<
  Params extends Schema = z.ZodUnknown,
  Query extends Schema = z.ZodUnknown,
  Body extends Schema = z.ZodUnknown,
  Answer extends Schema = z.ZodNever,
  Others extends Answers = Readonly<Record<number, z.ZodNever>>,
>(api: Api, line: string, declared: Declared<Params, Query, Body, Answer, Others>): void {
  const {
    permission,
    id,
    query,
    answer,
    answers,
    faults = [],
    answering = 'control',
    needsStore,
    ...rest
  } = declared
  const { onRequest, handler, ...described } = rest
  const [method = '', url = ''] = line.split(' ')
  const common = needsStore === false ? [401] : [401, 429, 503]
  api.route({
    method,
    url,
    config: { permission, takesTurn: method === 'GET' && needsStore !== false },
    schema: {
      operationId: id,
      ...described,
      ...(query && { querystring: query }),
      response: {
        ...(answer && { 200: answer }),
        ...answers,
        ...faultAnswers(permission === 'anyone' ? faults : [...common, ...faults], answering),
      },
    },
    ...(onRequest && { onRequest }),
    // Its own type says more than what Fastify infers from the schemas.
    handler: handler as never,
  })
}
