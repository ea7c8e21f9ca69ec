/** The control API with some of its parts, and callers of each role: an admin, and developers of one project each. */
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import { FailedKeys } from '#http/gateway/caller/failed-keys.ts'
import { nodeCaller, type Caller } from '#control/shared/caller.ts'
import type { ApiDependencies } from '#control/dependencies.ts'
import { BodyRoom } from '#http/gate/body-room.ts'
import { defaultLimits } from '#core/settings.ts'
import { controlServer } from '#control/server.ts'
import { systemClock } from '#runtime/clock.ts'
import { uuidv7Identifiers } from '#runtime/identifiers.ts'
import { noPeople } from './control.ts'
import type { Asked } from './gateway.ts'
import { absent } from './stores/absent.ts'

/** `admin`, or the name of a project: then a developer of that project asks. */
function callerOf(token: string): Caller {
  if (token === 'admin') return nodeCaller('admin')
  return {
    kind: 'member',
    actor: `developer of ${token}`,
    role: 'developer',
    projects: [token],
    isReadOnly: false,
  }
}

export async function startScopedControl(parts: Partial<ApiDependencies>) {
  const identifiers = uuidv7Identifiers(systemClock)
  const app = controlServer({
    limits: defaultLimits,
    notReady: () => undefined,
    metrics: async () => ({ contentType: 'text/plain', text: '' }),
    api: absent('part of this API', {
      bodyRoom: new BodyRoom(defaultLimits),
      callerOf,
      docsUrl: () => 'http://gateway.example',
      clientAddress: () => '127.0.0.1',
      failedTokens: new FailedKeys(() => systemClock.monotonicMs()),
      onFault: () => {},
      onAdminRequest: () => {},
      identifiers,
      console: { folder: '/nowhere', basePath: '/' },
      node: absent('part of this node', noPeople),
      ...parts,
    }),
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  after(() => app.close())
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/api/v1`
  const fetchAs = (as: string, path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(url + path, { ...init, headers: { authorization: `Bearer ${as}` } })
  return {
    fetchAs,
    askAs: async <Body = Asked['body']>(as: string, path: string, init: RequestInit = {}) => {
      const answer = await fetchAs(as, path, init)
      const text = await answer.text()
      return { status: answer.status, headers: answer.headers, text, body: JSON.parse(text) as Body }
    },
  }
}
