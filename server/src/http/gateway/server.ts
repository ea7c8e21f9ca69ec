/** The public listener: OpenAI's paths in all the spellings clients use. */
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import swagger from '@fastify/swagger'
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import {
  jsonSchemaTransform,
  jsonSchemaTransformObject,
  serializerCompiler,
  validatorCompiler,
} from 'fastify-type-provider-zod'
import { z } from 'zod'
import { Fault, type FaultCode } from '#core/fault/fault.ts'
import { FAULTS } from '#core/fault/table.ts'
import { faultMarkdown } from '#core/fault/page.ts'
import { authenticate } from '#request/access/authenticate.ts'
import { faultBody, faultHeaders, toFault } from '../faults.ts'
import { registerHealth, type Readiness } from '../health.ts'
import { serveAsset, type AssetDependencies } from './images/assets.ts'
import type { Brake } from './brake.ts'
import { clientRequestId, writeFault } from './caller/caller.ts'
import { embeddingsHandler, type EmbeddingsDependencies } from './embeddings/embeddings.ts'
import type { RequestHandler } from './caller/journey.ts'
import { serveJob } from './images/jobs.ts'
import { imageAnswer, imageEditRequest, imageJob, imageRequest } from './images/schemas.ts'
import { imagesHandler, type ImagesDependencies } from './images/images.ts'
import { listModelObjects, oneModelObject, type ModelListing } from './models.ts'
import { presentedKey } from './caller/presented-key.ts'
import { editReader, generationReader, type ReadingOutside } from './images/read-request.ts'
import { answerUnreadable } from './unreadable.ts'
import {
  embeddingAnswer,
  embeddingRequest,
  faultAnswers,
  modelList,
  modelObject,
  pathEmbeddingRequest,
} from './schemas.ts'

export interface GatewayDependencies
  extends EmbeddingsDependencies, ImagesDependencies, ReadingOutside, AssetDependencies, Readiness {
  readonly version: string
  readonly brake: Brake
}

/** The canonical prefix first; it is the one that is documented. */
const PREFIXES = ['/v1', '/openai/v1', ''] as const

const EMBEDDING_FAULTS = [400, 401, 403, 404, 408, 412, 413, 415, 429, 500, 502, 503, 504]
const IMAGE_FAULTS = [400, 401, 403, 404, 408, 413, 415, 422, 424, 429, 500, 502, 503, 504]

export async function gatewayServer(dependencies: GatewayDependencies): Promise<FastifyInstance> {
  const { clock, docsUrl, identifiers, keys, limits, observer, brake } = dependencies
  const embeddings = embeddingsHandler(dependencies)
  const images = imagesHandler('images', generationReader(dependencies), dependencies)
  const edits = imagesHandler('image-edits', editReader(dependencies), dependencies)
  const app = fastify({
    serverFactory: (handler) => listener(handler, embeddings, brake),
    genReqId: () => identifiers.next(),
    routerOptions: { maxParamLength: 512 },
    forceCloseConnections: 'idle',
    // Requests on connections that are already open are served while the node drains.
    return503OnClosing: false,
    frameworkErrors: (_, request, reply) => fail(request, reply, unknownPath(request.method, request.url)),
    clientErrorHandler: (error, socket) => {
      const requestId = identifiers.next()
      const fault = answerUnreadable(error, socket, requestId, docsUrl())
      if (fault === undefined) return
      const { status } = fault.entry
      observer.requestEnded({ requestId, route: 'unknown', status, fault: fault.code, durationMs: 0 })
    },
  })
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  await app.register(swagger, openapi(dependencies.version))

  const fail = (request: FastifyRequest, reply: FastifyReply, error: unknown): void => {
    const fault = toFault(error)
    const requestId = request.id
    observer.requestEnded({
      requestId,
      route: request.routeOptions.url === undefined ? 'unknown' : 'models',
      status: fault.entry.status,
      fault: fault.code,
      cause: fault.cause,
      durationMs: reply.elapsedTime,
    })
    void reply
      .code(fault.entry.status)
      .headers(faultHeaders(fault, requestId))
      .send(faultBody(fault, requestId, docsUrl()))
  }
  // The framework reads bodies also where there is no path; what it finds wrong with them helps nobody.
  app.setErrorHandler((error, request, reply) =>
    fail(request, reply, request.is404 ? unknownPath(request.method, request.url) : error),
  )
  app.setNotFoundHandler((request, reply) => fail(request, reply, unknownPath(request.method, request.url)))

  registerHealth(app, dependencies)
  registerErrorPages(app)

  const createdSeconds = Math.floor(clock.nowMs() / 1000)
  const listing = async (request: FastifyRequest): Promise<ModelListing> => ({
    key: await authenticate(presentedKey(request.headers), keys, clock),
    catalog: dependencies.catalog(),
    generationOf: dependencies.generationOf,
    createdSeconds,
    maxInputs: limits.maxInputs,
    maxImages: limits.maxImages,
    maxEditPictures: limits.maxEditPictures,
    editFileBytes: limits.editFileBytes,
  })
  const answered = (request: FastifyRequest, reply: FastifyReply): void => {
    void reply.header('x-request-id', request.id)
    observer.requestEnded({
      requestId: request.id,
      route: 'models',
      status: 200,
      durationMs: reply.elapsedTime,
    })
  }

  for (const prefix of PREFIXES) {
    const hide = prefix !== '/v1'
    app.post(`${prefix}/embeddings`, {
      schema: {
        hide,
        operationId: 'createEmbeddings',
        summary: 'Turn texts into vectors',
        body: embeddingRequest,
        response: { 200: embeddingAnswer, ...faultAnswers(EMBEDDING_FAULTS) },
      },
      onRequest: (request, reply) => {
        reply.hijack()
        return embeddings(request.raw, reply.raw)
      },
      handler: hijacked,
    })
    app.post(`${prefix}/engines/*`, {
      schema: {
        hide,
        operationId: 'createEngineEmbeddings',
        summary: 'Turn texts into vectors; the path names the model',
        params: z.object({ '*': z.string() }),
        body: pathEmbeddingRequest,
        response: { 200: embeddingAnswer, ...faultAnswers(EMBEDDING_FAULTS) },
      },
      onRequest: modelInPath(false, { [EMBEDDINGS_SUFFIX]: embeddings }),
      handler: hijacked,
    })
    app.post(`${prefix}/images/generations`, {
      schema: {
        hide,
        operationId: 'createImages',
        summary: 'Make images from a prompt',
        body: imageRequest,
        response: { 200: imageAnswer, 202: imageJob, ...faultAnswers(IMAGE_FAULTS) },
      },
      onRequest: (request, reply) => {
        reply.hijack()
        return images(request.raw, reply.raw)
      },
      handler: hijacked,
    })
    app.post(`${prefix}/images/edits`, {
      schema: {
        hide,
        operationId: 'editImages',
        summary: 'Edit images with a prompt',
        consumes: ['multipart/form-data', 'application/json'],
        body: imageEditRequest,
        response: { 200: imageAnswer, 202: imageJob, ...faultAnswers(IMAGE_FAULTS) },
      },
      onRequest: (request, reply) => {
        reply.hijack()
        return edits(request.raw, reply.raw)
      },
      handler: hijacked,
    })
    app.get(`${prefix}/images/jobs/:id`, {
      schema: {
        hide,
        operationId: 'getImageJob',
        summary: 'State and result of an image job',
        params: z.object({ id: z.string() }),
        response: { 200: imageJob, ...faultAnswers([401, 404, 503]) },
      },
      onRequest: raw(dependencies, 'image-jobs', (request, response, requestId) =>
        serveJob(request.raw, response, (request.params as { id: string }).id, requestId, dependencies),
      ),
      handler: hijacked,
    })
    app.get(`${prefix}/assets/:id`, {
      schema: {
        hide,
        operationId: 'getAsset',
        summary: 'A stored image, by a signed link or with a key of its project',
        params: z.object({ id: z.string() }),
        querystring: z.object({ exp: z.string().optional(), sig: z.string().optional() }),
        response: { 200: z.any().describe('The bytes.'), ...faultAnswers([401, 403, 404, 410, 503]) },
      },
      onRequest: raw(dependencies, 'assets', (request, response, requestId) => {
        const { searchParams: query } = new URL(request.url, 'http://gateway')
        const assetId = (request.params as { id: string }).id
        return serveAsset(request.raw, response, { assetId, query }, requestId, dependencies)
      }),
      handler: hijacked,
    })
    app.get(`${prefix}/models`, {
      schema: {
        hide,
        operationId: 'listModels',
        summary: 'Models that this key may use',
        response: { 200: modelList, ...faultAnswers([401, 503]) },
      },
      handler: async (request, reply) => {
        const models = listModelObjects(await listing(request))
        answered(request, reply)
        return models
      },
    })
    app.get(`${prefix}/models/*`, {
      schema: {
        hide,
        operationId: 'getModel',
        summary: 'One model',
        params: z.object({ '*': z.string() }),
        response: { 200: modelObject, ...faultAnswers([401, 403, 404, 503]) },
      },
      handler: async (request, reply) => {
        const model = oneModelObject((request.params as { '*': string })['*'], await listing(request))
        answered(request, reply)
        return model
      },
    })
  }
  app.post('/openai/deployments/*', {
    schema: {
      operationId: 'createDeploymentEmbeddings',
      summary:
        "Azure's path: it names the model, and the model in the body is ignored. The same holds for /images/generations and /images/edits",
      params: z.object({ '*': z.string() }),
      body: pathEmbeddingRequest,
      response: { 200: embeddingAnswer, ...faultAnswers(EMBEDDING_FAULTS) },
    },
    onRequest: modelInPath(true, {
      [EMBEDDINGS_SUFFIX]: embeddings,
      '/images/generations': images,
      '/images/edits': edits,
    }),
    handler: hijacked,
  })
  return app
}

/** The quick lane passes the framework by. Time-outs are those of the port that requests come in by. */
function listener(handler: RequestListener, embeddings: RequestHandler, brake: Brake): Server {
  return createServer((request, response) => {
    if (brake.refuses(request, response)) return
    if (request.url === '/v1/embeddings' && request.method === 'POST') void embeddings(request, response)
    else handler(request, response)
  })
}

const EMBEDDINGS_SUFFIX = '/embeddings'

/** `…/{model}/embeddings`, greedy: model ids may hold slashes. */
function modelInPath(pathWins: boolean, handlers: Readonly<Record<string, RequestHandler>>) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const rest = (request.params as { '*': string })['*']
    const suffix = Object.keys(handlers).find((end) => rest.endsWith(end) && rest.length > end.length)
    if (suffix === undefined) throw unknownPath(request.method, request.url)
    reply.hijack()
    await handlers[suffix]?.(request.raw, reply.raw, { model: rest.slice(0, -suffix.length), pathWins })
  }
}

/** For answers that are streams of bytes: no framework between, and the same end as every other request. */
function raw(
  { observer, docsUrl }: GatewayDependencies,
  route: string,
  serve: (request: FastifyRequest, response: ServerResponse, requestId: string) => Promise<void>,
) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    reply.hijack()
    let fault: Fault | undefined
    try {
      await serve(request, reply.raw, request.id)
    } catch (error) {
      fault = toFault(error)
      writeFault(reply.raw, fault, request.id, docsUrl())
    }
    observer.requestEnded({
      requestId: request.id,
      route,
      status: fault?.entry.status ?? reply.raw.statusCode,
      fault: fault?.code,
      cause: fault?.cause,
      clientRequestId: clientRequestId(request.raw),
      durationMs: reply.elapsedTime,
    })
  }
}

/** Never reached: the request was answered before its body was read. */
function hijacked(): never {
  throw new Fault('internal_error', 'A hijacked route came back.')
}

function unknownPath(method: string, url: string): Fault {
  const path = url.split('?')[0]?.slice(0, 200) ?? ''
  const hint = path.startsWith('/v1/v1')
    ? 'Your base URL already ends in /v1. Remove one of the two.'
    : 'This gateway serves embeddings and images only: GET /v1/models, POST /v1/embeddings, POST /v1/images/generations and POST /v1/images/edits.'
  return new Fault('unknown_path', `${method} ${path} does not exist. ${hint}`)
}

/** What `doc_url` points at: a self-hosted gateway explains its own errors, also without the internet. */
function registerErrorPages(app: FastifyInstance): void {
  app.get('/docs/errors/:code', { schema: { hide: true } }, (request, reply) => {
    const { code } = request.params as { code: string }
    if (!Object.hasOwn(FAULTS, code))
      throw new Fault('unknown_path', `There is no error code '${code.slice(0, 80)}'.`)
    return reply.type('text/markdown; charset=utf-8').send(faultMarkdown(code as FaultCode))
  })
}

function openapi(version: string): Parameters<typeof swagger>[1] & object {
  return {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Torana gateway',
        description:
          'OpenAI-compatible embeddings and images. Every operation also answers under /openai/v1 and without a prefix.',
        version,
      },
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer' },
          apiKey: { type: 'apiKey', in: 'header', name: 'api-key' },
          xApiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        },
      },
      security: [{ bearer: [] }, { apiKey: [] }, { xApiKey: [] }],
    },
    transform: (route) => jsonSchemaTransform({ ...route, url: documentedUrl(route.url) }),
    transformObject: jsonSchemaTransformObject,
  }
}

function documentedUrl(url: string): string {
  if (url.endsWith('/models/*')) return url.replace('*', ':model')
  return url.replace('/*', '/:model/embeddings')
}
