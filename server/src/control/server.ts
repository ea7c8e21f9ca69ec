/** The private listener: health, metrics, the control API and the console. */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { Fault } from '#core/fault/fault.ts'
import type { Limits } from '#core/settings.ts'
import type { Identifiers } from '#ports/clock.ts'
import {
  consoleAnswer,
  registerConsole,
  withoutBasePath,
  type ConsoleDependencies,
} from '#http/console/console.ts'
import type { BodyRoom } from '#http/gate/body-room.ts'
import { controlBounds } from '#http/gate/bounds.ts'
import { boundRoutes } from '#http/gate/gate.ts'
import { checkUrl } from '#http/gate/texts.ts'
import { isForHealth, registerHealth, type Readiness } from '#http/health.ts'
import { registerOpenapi, type Documented } from '#http/openapi.ts'
import { answerUnreadable, hasOneHost } from '#http/unreadable.ts'
import { isReading } from './shared/caller.ts'
import { checkHost } from './shared/host.ts'
import { registerApi } from './api.ts'
import type { ApiDependencies } from './dependencies.ts'
import { addSecurityHeaders } from './shared/security-headers.ts'
import { answerFault, pathIn } from './shared/answer-fault.ts'
import { readBodies } from './shared/body.ts'

export interface ControlDependencies extends Readiness {
  readonly limits: Limits
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>
  readonly api?: ControlApi | undefined
}

interface ControlApi extends ApiDependencies, Documented {
  /** The memory of the node for bodies, which both ports share. */
  readonly bodyRoom: BodyRoom
  /** Where people open the console, if an operator set it. */
  readonly consoleUrl?: string | undefined
  readonly identifiers: Identifiers
  readonly console: ConsoleDependencies
}

export function controlServer(dependencies: ControlDependencies): FastifyInstance {
  const { api } = dependencies
  const app = fastify({
    forceCloseConnections: 'idle',
    // Paths hold ids of models, which may be long.
    routerOptions: { maxParamLength: 512 },
    ...(api && {
      genReqId: () => api.identifiers.next(),
      rewriteUrl: ({ url }: IncomingMessage) => withoutBasePath(url ?? '/', api.console.basePath),
      frameworkErrors: (_: unknown, request: FastifyRequest, reply: FastifyReply) =>
        void answerFault(unknownPath(request, api), request, reply, api),
      clientErrorHandler: (error: { readonly code?: string }, socket: Socket) =>
        void answerUnreadable(error, socket, api.identifiers.next(), api.docsUrl()),
    }),
  })
  // A client that asks before it sends its body gets its answer where the body is read.
  app.server.on('checkContinue', (request, response) => app.server.emit('request', request, response))
  registerControl(app, dependencies)
  return app
}

export function registerControl(
  app: FastifyInstance,
  { api, limits, metrics, ...readiness }: ControlDependencies,
): void {
  addSecurityHeaders(app)
  boundRoutes(app, controlBounds(limits), controlLine)
  if (api) openGate(app, api)
  registerHealth(app, readiness)
  app.get('/metrics', { schema: { hide: true } }, async (_, reply) => {
    const { contentType, text } = await metrics()
    return reply.type(contentType).send(text)
  })
  if (api) registerApi(app, api)
  if (api) registerPages(app, api)
}

const INDEX = [
  '# Torana: the control port',
  '',
  'This port is for operators. Applications use the public port.',
  '',
  '- `/api/v1`: the control API, which needs the admin token. The command `torana` uses it',
  '- [The OpenAPI document](docs/openapi.json)',
  '- [Metrics](metrics)',
  '- [Is this node ready?](readyz)',
  '',
].join('\n')

/** Before any path is looked at. A path that does not exist is refused before its body is read. */
function openGate(app: FastifyInstance, api: ControlApi): void {
  readBodies(app, api.bodyRoom)
  app.addHook('onRequest', async (request) => {
    const { raw, method, url } = request
    if (!hasOneHost(raw))
      throw new Fault('malformed_request', 'The request has no Host header, or more than one. Send one.')
    if (!isForHealth(url)) checkHost(raw, api.consoleUrl)
    checkUrl(method, url)
    if (request.is404 && !isReading(method) && !isForApi(url)) throw unknownPath(request, api)
  })
  app.setErrorHandler((error, request, reply) => answerFault(error, request, reply, api))
}

function isForApi(url: string): boolean {
  return url.startsWith('/api/v1/')
}

function controlLine(method: string, url: string): string {
  return `${method} ${url.replace('/api/v1', '')}`
}

function registerPages(app: FastifyInstance, api: ControlApi): void {
  registerOpenapi(app, api)
  const answer = consoleAnswer(api.console)
  registerConsole(app, answer, INDEX)
  app.setNotFoundHandler(async (request, reply) => {
    if (await answer(request, reply)) return reply
    throw unknownPath(request, api)
  })
}

function unknownPath({ method, url }: FastifyRequest, { docsUrl }: ControlApi): Fault {
  const path = pathIn(url)
  const elsewhere = /^\/(?:v1|openai)(?:\/|$)/.test(path)
    ? ` Applications use the public port: ${docsUrl()}${path}`
    : ''
  return new Fault('unknown_path', `${method} ${path} does not exist on the control port.${elsewhere}`)
}
