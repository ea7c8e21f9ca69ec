/** The public listener: OpenAI's paths in all the spellings that clients use. */
import { createServer, type RequestListener, type Server } from 'node:http'
import { fastify, type FastifyInstance } from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import { gatewayBounds } from '../gate/bounds.ts'
import { boundRoutes } from '../gate/gate.ts'
import { registerHealth, type Readiness } from '../health.ts'
import { registerOpenapi, type Documented } from '../openapi.ts'
import type { Brake } from './brake.ts'
import type { Cors } from './cors.ts'
import type { BatchesDependencies } from './batches/batches.ts'
import { registerBatches } from './batches/routes.ts'
import type { RequestHandler } from './caller/journey.ts'
import { handledByEnd, PREFIXES, unknownPath } from './caller/routes.ts'
import type { EmbeddingsDependencies } from './embeddings/embeddings.ts'
import { deploymentSchema, registerEmbeddings } from './embeddings/routes.ts'
import { registerFiles, type FilesDependencies } from './files/routes.ts'
import {
  registerUploads,
  uploadHandlers,
  type UploadHandlers,
  type UploadsDependencies,
} from './files/upload-routes.ts'
import { failUnexpected, failUnreadable, failWith, registerFaults } from './faults.ts'
import type { AssetDependencies } from './images/assets.ts'
import type { ImagesDependencies } from './images/images.ts'
import type { ReadingOutside } from './images/read-request.ts'
import { registerAssets, registerImageJobs, registerImages } from './images/routes.ts'
import { gatewayHandlers, type GatewayHandlers } from './handlers.ts'
import { hasOneHost, NOT_ONE_HOST } from '../unreadable.ts'
import { registerModels, type ModelsDependencies } from './models/routes.ts'
import { registerPages } from './pages.ts'

export interface GatewayDependencies
  extends
    EmbeddingsDependencies,
    ImagesDependencies,
    ReadingOutside,
    AssetDependencies,
    FilesDependencies,
    BatchesDependencies,
    UploadsDependencies,
    ModelsDependencies,
    Documented,
    Readiness {
  readonly brake: Brake
  /** Undefined if no page of another origin may see an answer. */
  readonly cors?: Cors | undefined
}

/** The longest model id that a path may contain. */
const MAX_PARAM_LENGTH = 512

export function gatewayServer(
  dependencies: GatewayDependencies,
  handlers = gatewayHandlers(dependencies),
  uploads = uploadHandlers(dependencies),
): FastifyInstance {
  const app = frameworkOf(handlers.embeddings, dependencies)
  registerGateway(app, dependencies, handlers, uploads)
  return app
}

export function registerGateway(
  app: FastifyInstance,
  dependencies: GatewayDependencies,
  { embeddings, generations, edits }: GatewayHandlers,
  uploads: UploadHandlers,
): void {
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  boundRoutes(app, gatewayBounds(dependencies.limits), gatewayLine)
  registerFaults(app, dependencies)
  registerHealth(app, dependencies)
  registerPages(app, dependencies)
  registerOpenapi(app, dependencies)
  registerEmbeddings(app, embeddings)
  registerImages(app, { generations, edits })
  registerImageJobs(app, dependencies)
  registerAssets(app, dependencies)
  registerFiles(app, dependencies)
  registerBatches(app, dependencies)
  registerUploads(app, uploads)
  registerModels(app, dependencies)
  app.post('/openai/deployments/*', {
    schema: deploymentSchema,
    ...handledByEnd(true, {
      '/embeddings': embeddings,
      '/images/generations': generations,
      '/images/edits': edits,
    }),
  })
}

/** Every path answers under several prefixes, with the same bounds. */
function gatewayLine(method: string, url: string): string {
  const { prefix } = PREFIXES.find((one) => url.startsWith(`${one.prefix}/`)) ?? { prefix: '' }
  return `${method} ${url.slice(prefix.length)}`
}

function frameworkOf(embeddings: RequestHandler, dependencies: GatewayDependencies): FastifyInstance {
  const { identifiers } = dependencies
  return fastify({
    serverFactory: (handler) => listenerOf(handler, embeddings, dependencies),
    genReqId: () => identifiers.next(),
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    forceCloseConnections: 'idle',
    // Requests on connections that are already open are served while the node drains.
    return503OnClosing: false,
    frameworkErrors: (_, request, reply) => failWith(unknownPath(request), request, reply, dependencies),
    clientErrorHandler: (error, socket) => failUnreadable(error, socket, dependencies),
  })
}

/** The brake and the hot path of embeddings come before the framework's router. Timeouts are those of the port. */
function listenerOf(
  framework: RequestListener,
  embeddings: RequestHandler,
  dependencies: GatewayDependencies,
): Server {
  const { brake, cors } = dependencies
  const take: RequestListener = (request, response) => {
    if (cors?.answers(request, response)) return
    if (brake.refuses(request, response)) return
    if (!hasOneHost(request)) return failUnreadable({ code: NOT_ONE_HOST }, request.socket, dependencies)
    if (request.url === '/v1/embeddings' && request.method === 'POST') void embeddings(request, response)
    else framework(request, response)
  }
  return (
    createServer(take)
      // The client asks whether it may send its body. It gets `100 Continue` where the body is read, so a wrong key causes no upload.
      .on('checkContinue', take)
      .on('checkExpectation', (request, response) => failUnexpected(request, response, dependencies))
  )
}
