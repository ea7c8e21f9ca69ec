import assert from 'node:assert/strict'
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestListener,
  type Server,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { buildConnector } from 'undici'
import { AddressRefused } from '#ports/image-upstream.ts'
import { HttpTimeout, HttpTooLarge } from './http.ts'
import { GuardedPictureFetcher, type PictureFetchOptions } from './picture-fetch.ts'
import { USER_AGENT } from './user-agent.ts'

const PICTURE = Buffer.from('the bytes of a picture')
const LIMITS = { trustedOrigin: undefined, timeoutMs: 20_000, maxBytes: 1000 }

/** Listen on 127.0.0.1 and ::1, on one port, for connections that must never come. */
let traps: Server[]
let port: number
let connections = 0

async function listen(server: Server, host: string, at = 0): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(at, host, resolve)
  })
  return (server.address() as AddressInfo).port
}

before(async () => {
  const trap = (): Server =>
    createServer((_request, response) => response.end('secret')).on('connection', () => (connections += 1))
  const [first, second] = [trap(), trap()]
  port = await listen(first, '127.0.0.1')
  await listen(second, '::1', port)
  traps = [first, second]
})
after(() => traps.forEach((server) => server.close()))

/** Names that resolve to what an attacker's name server would say. */
const NAMES: Record<string, readonly string[]> = {
  'loopback.example': ['127.0.0.1'],
  'loopback6.example': ['::1'],
  'mapped.example': ['::ffff:127.0.0.1'],
  'nat64.example': ['64:ff9b::7f00:1'],
  'private.example': ['10.1.2.3'],
  'metadata.google.internal': ['169.254.169.254'],
  'mixed.example': ['8.8.8.8', '127.0.0.1'],
  'mixed-late.example': ['8.8.8.8', '2606:4700:4700::1111', '::1'],
  'nowhere.example': [],
  localhost: ['127.0.0.1', '::1'],
  'localhost.': ['127.0.0.1'],
  'a.localhost': ['127.0.0.1'],
  'localtest.me': ['127.0.0.1'],
  '127.0.0.1.nip.io': ['127.0.0.1'],
  'public.example': ['93.184.215.14'],
  'public6.example': ['2606:4700:4700::1111'],
  'both.example': ['2606:4700:4700::1111', '93.184.215.14'],
  'other.example': ['1.1.1.1'],
}
const lookup = async (host: string): Promise<{ address: string; family: number }[]> => {
  const addresses = NAMES[host]
  if (addresses === undefined) throw Object.assign(new Error(`no ${host}`), { code: 'ENOTFOUND' })
  return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
}

function fetcherWith(options: Partial<PictureFetchOptions> = {}): GuardedPictureFetcher {
  return new GuardedPictureFetcher({ connectTimeoutMs: 2_000, allowHttp: true, lookup, ...options })
}

/** Every spelling of hosts that no outsider may reach. The traps listen on `PORT`. */
const FORBIDDEN_HOSTS = [
  // Loopback, as people write it and as they should not.
  ['127.0.0.1', '127.0.0.2', '127.127.127.127', '127.1', '127.0.1', '127.000.000.001', '127.0.0.1.'],
  ['0x7f.0.0.1', '0x7f.1', '0x7f000001', '0X7F000001', '0x7f.0x0.0x0.0x1', '0x0000007f.1'],
  ['0177.0.0.1', '0177.1', '0177.0.0.01', '00177.0.0.1', '017700000001', '2130706433', '0x7f.0.1'],
  ['①②⑦.⓪.⓪.①', '１２７.0.0.1', '127。0。0。1', '127．0．0．1', '%31%32%37.0.0.1', '127%2e0%2e0%2e1'],
  ['0', '0.0.0.0', '0.0', '0x0', '00', '0.1.2.3'],
  ['[::1]', '[0:0:0:0:0:0:0:1]', '[0000::0001]', '[::0001]', '[::]', '[0:0:0:0:0:0:0:0]'],
  ['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::FFFF:127.0.0.1]', '[0:0:0:0:0:ffff:127.0.0.1]'],
  ['[::127.0.0.1]', '[::7f00:1]', '[::ffff:0:127.0.0.1]', '[::ffff:0:7f00:1]'],
  ['[64:ff9b::127.0.0.1]', '[64:ff9b::7f00:1]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]', '[2002:7f00:1::1]'],
  ['[2001:0:7f00:1::]', '[2001::1]'],
  // Internal networks.
  ['10.0.0.1', '10.255.255.255', '10.1', '0xa.0.0.1', '012.0.0.1', '167772161', '[::ffff:10.0.0.1]'],
  ['172.16.0.1', '172.31.255.254', '172.16.1', '192.168.0.1', '192.168.1.1', '192.168.257', '3232235521'],
  ['0300.0250.0.1', '0xc0.0xa8.0.1', '0xc0a80001', '[::ffff:192.168.0.1]', '[64:ff9b::c0a8:1]'],
  ['100.64.0.1', '100.127.255.255', '192.0.0.1', '192.0.0.192', '198.18.0.1', '198.19.0.1'],
  ['[fc00::1]', '[fd00::1]', '[fdff:ffff::1]', '[fec0::1]', '[feff::1]'],
  // Entrances to a cloud's internal network.
  ['169.254.169.254', '169.254.1', '0xa9fea9fe', '2852039166', '0251.0376.0251.0376', '0xa9.0xfe.0xa9.0xfe'],
  ['[::ffff:169.254.169.254]', '[::ffff:a9fe:a9fe]', '[64:ff9b::a9fe:a9fe]', '[2002:a9fe:a9fe::]'],
  ['169.254.170.2', '100.100.100.200', '168.63.129.16', '[fd00:ec2::254]', '[fe80::a9fe:a9fe]'],
  // Unallocated or special.
  ['192.0.2.1', '198.51.100.1', '203.0.113.1', '192.88.99.1', '224.0.0.1', '239.1.1.1', '240.0.0.1'],
  ['255.255.255.255', '4294967295', '0xffffffff', '[2001:db8::1]', '[3fff::1]', '[100::1]', '[ff02::1]'],
  ['[fe80::1]', '[febf::1]', '[1::1]', '[4000::1]', '[2001:2::1]', '[2001:20::1]', '[5f00::1]'],
  // Names that lead there.
  ['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'loopback.example', 'loopback6.example'],
  ['mapped.example', 'nat64.example', 'private.example', 'mixed.example', 'mixed-late.example'],
  ['nowhere.example', 'metadata.google.internal', 'localtest.me', '127.0.0.1.nip.io', 'ｌocalhost'],
].flat()

const FORBIDDEN_URLS = [
  ['', 'picture.png', '/etc/passwd', '//127.0.0.1/x', 'http://', 'https:///', 'http://[::1'],
  [
    'file:///etc/passwd',
    'ftp://public.example/x',
    'gopher://127.0.0.1:6379/_x',
    'data:image/png;base64,AAAA',
  ],
  ['javascript:alert(1)', 'blob:https://public.example/1', 'ws://127.0.0.1/', 'unix:/run/x', 'about:blank'],
  ['http://user@public.example/', 'https://user:secret@public.example/', 'http://:secret@public.example/'],
  ['http://public.example@127.0.0.1:PORT/', 'http://127.0.0.1:PORT@public.example/'],
  ['http://127.0.0.1:PORT#@public.example/', 'http://127.0.0.1:PORT?@public.example/'],
  [String.raw`http://127.0.0.1:PORT\@public.example/`, 'http:127.0.0.1:PORT/', 'http:////127.0.0.1:PORT/'],
  [' http://127.0.0.1:PORT/', 'http://127.0.0.1:PORT/\r\nhost: x', 'ht\ntp://127.0.0.1:PORT/'],
  ['http://[fe80::1%25lo]:PORT/', 'http://[::1%lo]:PORT/', 'http://1.2.3.4.5:PORT/', 'http://256.1.1.1/'],
  [
    'http://public.example:0/',
    'http://public.example:22/',
    'http://public.example:25/',
    'http://8.8.8.8:6667/',
  ],
  ['http://public.example:65536/', `http://${'a.'.repeat(127)}example/`],
].flat()

test('the table of forbidden addresses is long enough to mean something', () => {
  assert.ok(FORBIDDEN_HOSTS.length + FORBIDDEN_URLS.length >= 160)
})

for (const scheme of ['http', 'https']) {
  test(`no private ${scheme} address is connected to, however it is spelled`, async () => {
    for (const host of FORBIDDEN_HOSTS) {
      const url = `${scheme}://${host}:${port}/`
      await assert.rejects(fetcherWith().fetch(url, LIMITS), AddressRefused, url)
    }
    assert.equal(connections, 0)
  })
}

test('what is no plain address of the web is not connected to', async () => {
  for (const template of FORBIDDEN_URLS) {
    const url = template.replaceAll('PORT', String(port))
    await assert.rejects(fetcherWith().fetch(url, LIMITS), AddressRefused, JSON.stringify(url))
  }
  assert.equal(connections, 0)
})

test('the traps work: who does not ask the guard gets in', async () => {
  const answer = await fetch(`http://127.0.0.1:${port}/`)
  assert.equal(await answer.text(), 'secret')
  assert.equal(connections, 1)
  connections = 0
})

test('plain http needs the setting, or the upstream’s own origin', async () => {
  const guarded = fetcherWith({ allowHttp: false })
  await assert.rejects(guarded.fetch('http://public.example/', LIMITS), /not https/)
})

interface Site {
  readonly origin: string
  readonly requests: readonly IncomingMessage[]
}

/** A server of the upstream, on an address that only trust opens. */
async function withSite(listener: RequestListener, use: (site: Site) => Promise<void>): Promise<void> {
  const requests: IncomingMessage[] = []
  const server = createServer((request, response) => {
    requests.push(request)
    listener(request, response)
  })
  const at = await listen(server, '127.0.0.1')
  try {
    await use({ origin: `http://127.0.0.1:${at}`, requests })
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

/** Acts as the internet: every checked address is recorded, and leads to the site. */
function internet(site: Site): {
  dialled: string[]
  connectTo: NonNullable<PictureFetchOptions['connectTo']>
} {
  const dialled: string[] = []
  const connect = buildConnector({ timeout: 2_000 })
  const { hostname, port: sitePort } = new URL(site.origin)
  return {
    dialled,
    connectTo: (addresses) => {
      dialled.push(addresses.map(({ address }) => address).join(','))
      return (options, callback) => connect({ ...options, hostname, port: sitePort }, callback)
    },
  }
}

test('a picture on the public internet is fetched, and nothing of us but our name is sent along', () =>
  withSite(
    (_request, response) => response.end(PICTURE),
    async (site) => {
      const { dialled, connectTo } = internet(site)
      const bytes = await fetcherWith({ connectTo }).fetch('http://public.example/a?b=c', LIMITS)
      assert.deepEqual(Buffer.from(bytes), PICTURE)
      assert.deepEqual(dialled, ['93.184.215.14'])
      const [request] = site.requests
      assert.equal(request?.url, '/a?b=c')
      assert.deepEqual(request?.headers, {
        host: 'public.example',
        connection: 'keep-alive',
        'user-agent': USER_AGENT,
        accept: 'image/*',
        'accept-encoding': 'identity',
      })
    },
  ))

test('a picture of the upstream’s own origin is fetched wherever that is', () =>
  withSite(
    (_request, response) => response.end(PICTURE),
    async ({ origin }) => {
      const guarded = fetcherWith({ allowHttp: false })
      const bytes = await guarded.fetch(`${origin}/x`, { ...LIMITS, trustedOrigin: origin })
      assert.deepEqual(Buffer.from(bytes), PICTURE)
      await assert.rejects(guarded.fetch(`${origin}/x`, LIMITS), AddressRefused)
      const neighbour = { ...LIMITS, trustedOrigin: `http://127.0.0.1:${port}` }
      await assert.rejects(guarded.fetch(`${origin}/x`, neighbour), AddressRefused)
      const almost = { ...LIMITS, trustedOrigin: origin.replace('127.0.0.1', 'localhost') }
      await assert.rejects(guarded.fetch(`${origin}/x`, almost), AddressRefused)
    },
  ))

test('a picture of a trusted host is fetched wherever that is, and of its neighbours none', () =>
  withSite(
    (_request, response) => response.end(PICTURE),
    async ({ origin }) => {
      const guarded = fetcherWith({ allowHttp: false })
      const { host, hostname } = new URL(origin)
      const trusting = { ...LIMITS, trustedHosts: ['files.internal', host] }
      assert.deepEqual(Buffer.from(await guarded.fetch(`${origin}/x`, trusting)), PICTURE)
      for (const trustedHosts of [[], [hostname], ['localhost'], [`${host}0`]])
        await assert.rejects(guarded.fetch(`${origin}/x`, { ...LIMITS, trustedHosts }), AddressRefused)
    },
  ))

test('no redirect leads from a trusted origin to a private address', () =>
  withSite(
    (request, response) => {
      const host = decodeURIComponent(request.url?.slice(1) ?? '')
      response.writeHead(302, { location: encodeURI(`http://${host}:${port}/`) }).end()
    },
    async (site) => {
      const ascii = FORBIDDEN_HOSTS.filter((host) => /^[\w.:[\]-]+$/.test(host))
      for (const host of ascii) {
        const url = `${site.origin}/${encodeURIComponent(host)}`
        const fetched = fetcherWith().fetch(url, { ...LIMITS, trustedOrigin: site.origin })
        await assert.rejects(fetched, AddressRefused, host)
      }
      assert.equal(site.requests.length, ascii.length)
      assert.equal(connections, 0)
    },
  ))

test('a redirect from the public internet is checked as new, and so is one back to the trusted origin’s neighbour', () =>
  withSite(
    (request, response) => {
      const location = request.url === '/1' ? 'http://other.example/2' : `http://127.0.0.1:${port}/`
      response.writeHead(307, { location }).end()
    },
    async (site) => {
      const { dialled, connectTo } = internet(site)
      await assert.rejects(
        fetcherWith({ connectTo }).fetch('http://public.example/1', LIMITS),
        AddressRefused,
      )
      assert.deepEqual(dialled, ['93.184.215.14', '1.1.1.1'])
      assert.equal(connections, 0)
    },
  ))

test('three redirects are followed, a fourth is not', () =>
  withSite(
    (request, response) => {
      const left = Number(request.url?.slice(1))
      if (left === 0) response.end(PICTURE)
      else response.writeHead(308, { location: `/${left - 1}` }).end()
    },
    async ({ origin, requests }) => {
      const options = { ...LIMITS, trustedOrigin: origin }
      assert.deepEqual(Buffer.from(await fetcherWith().fetch(`${origin}/3`, options)), PICTURE)
      assert.equal(requests.length, 4)
      await assert.rejects(fetcherWith().fetch(`${origin}/4`, options), /more than 3 redirects/)
      assert.equal(requests.length, 8)
    },
  ))

test('a name is resolved once, so that one that changes its mind leads nowhere new', () =>
  withSite(
    (_request, response) => response.end(PICTURE),
    async (site) => {
      let asked = 0
      const rebinding = async (): Promise<{ address: string; family: number }[]> => {
        asked += 1
        return [{ address: asked === 1 ? '93.184.215.14' : '127.0.0.1', family: 4 }]
      }
      const { dialled, connectTo } = internet(site)
      await fetcherWith({ lookup: rebinding, connectTo }).fetch(`http://rebind.example:${port}/`, LIMITS)
      assert.equal(asked, 1)
      assert.deepEqual(dialled, ['93.184.215.14'])
      const again = fetcherWith({ lookup: rebinding }).fetch(`http://rebind.example:${port}/`, LIMITS)
      await assert.rejects(again, AddressRefused)
      assert.equal(connections, 0)
    },
  ))

test('what is dialled is what was checked: the platform’s own resolver is not asked', async () => {
  // The platform would resolve `localhost` to the traps. The checked address leads nowhere, and the test does
  // not wait for it.
  const said = async (): Promise<{ address: string; family: number }[]> => [
    { address: '93.184.215.14', family: 4 },
  ]
  const fetched = fetcherWith({ lookup: said, connectTimeoutMs: 200 }).fetch(`http://localhost:${port}/`, {
    ...LIMITS,
    timeoutMs: 500,
  })
  await assert.rejects(fetched)
  assert.equal(connections, 0)
})

const answering =
  (status: number, headers: OutgoingHttpHeaders, body = PICTURE): RequestListener =>
  (_request, response) =>
    void response.writeHead(status, headers).end(body)
const redirecting = (headers: OutgoingHttpHeaders) => answering(301, headers)
const coded = (coding: string) => answering(200, { 'content-encoding': coding })
const chunked = { 'transfer-encoding': 'chunked' }
const refused: readonly (readonly [title: string, error: object, RequestListener])[] = [
  ['a redirect to a file', AddressRefused, redirecting({ location: 'file:///etc/passwd' })],
  ['a redirect to FTP', AddressRefused, redirecting({ location: 'ftp://public.example/' })],
  ['a redirect with a password', AddressRefused, redirecting({ location: 'http://u:p@public.example/' })],
  ['a redirect to half an address', AddressRefused, redirecting({ location: 'http://[' })],
  ['a redirect to nowhere', AddressRefused, redirecting({})],
  [
    'a larger picture, announced',
    HttpTooLarge,
    answering(200, { 'content-length': '1001' }, Buffer.alloc(1001)),
  ],
  ['a larger picture, in chunks', HttpTooLarge, answering(200, chunked, Buffer.alloc(5000))],
  ['no answer in time', HttpTimeout, () => {}],
  ['no end in time', HttpTimeout, (_request, response) => void response.write('a')],
  [
    'drops without an end',
    HttpTimeout,
    (_request, response) => void setInterval(() => response.write('a'), 20).unref(),
  ],
  ['gzip that is none', /not gzip/, coded('gzip')],
  ['an encoding that was not asked for', /content coding "compress"/, coded('compress')],
  ['what is no picture', /status 403/, answering(403, {})],
]
for (const [title, error, listener] of refused)
  test(`a server is left at once: ${title}`, () =>
    withSite(listener, async ({ origin: trustedOrigin }) => {
      const limits = error === HttpTimeout ? { timeoutMs: 150, maxBytes: 1e9 } : {}
      await assert.rejects(fetcherWith().fetch(trustedOrigin, { ...LIMITS, ...limits, trustedOrigin }), error)
    }))

test('a resolver that never answers is left when time is up', async () => {
  const lookup = (): Promise<never> => new Promise(() => {})
  const fetched = fetcherWith({ lookup }).fetch('http://public.example/', { ...LIMITS, timeoutMs: 100 })
  await assert.rejects(fetched, HttpTimeout)
})

/** A proxy whose tunnels lead nowhere: it records each target, and the first bytes sent. */
async function withProxy(
  work: (proxy: { readonly url: string; readonly tunnels: Tunnel[] }) => Promise<void>,
): Promise<void> {
  const tunnels: Tunnel[] = []
  const server = createServer((_request, response) => response.writeHead(400).end('not a tunnel'))
  server.on('connect', (asked: IncomingMessage, socket) => {
    socket.on('error', () => {})
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    socket.once('data', (said: Buffer) => {
      tunnels.push({ to: asked.url, host: asked.headers.host, said: said.toString('latin1') })
      socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${PICTURE.length}\r\n\r\n${PICTURE.toString()}`)
    })
  })
  const at = await listen(server, '127.0.0.1')
  try {
    await work({ url: `http://127.0.0.1:${at}`, tunnels })
  } finally {
    server.close()
  }
}

interface Tunnel {
  readonly to: string | undefined
  readonly host: string | undefined
  readonly said: string
}

test('a proxy is given nothing that the guard refuses, and a tunnel to the checked address for the rest', () =>
  withProxy(async ({ url, tunnels }) => {
    const proxied = fetcherWith({ proxy: { http: url, https: url } })
    for (const host of ['127.0.0.1', 'loopback.example', '169.254.169.254', '[::1]']) {
      await assert.rejects(proxied.fetch(`http://${host}:${port}/`, LIMITS), AddressRefused, host)
    }
    assert.equal(tunnels.length, 0)
    assert.deepEqual(Buffer.from(await proxied.fetch('http://public.example/x', LIMITS)), PICTURE)
    assert.deepEqual([tunnels[0]?.to, tunnels[0]?.host], ['93.184.215.14:80', '93.184.215.14:80'])
    assert.match(tunnels[0]?.said ?? '', /^GET \/x HTTP\/1\.1\r\nhost: public\.example\r\n/)
    assert.equal(connections, 0)
  }))

test('a proxy never hears the name of a host to resolve; the TLS handshake in the tunnel has it', () =>
  withProxy(async ({ url, tunnels }) => {
    const proxied = fetcherWith({ proxy: { https: url } })
    for (const [host, to] of [
      ['public.example', '93.184.215.14:443'],
      ['public6.example', '[2606:4700:4700::1111]:443'],
      ['both.example', '93.184.215.14:443'],
      ['public.example:8443', '93.184.215.14:8443'],
    ] as const) {
      // The tunnel leads to no TLS server.
      await assert.rejects(proxied.fetch(`https://${host}/x`, LIMITS))
      const tunnel = tunnels.pop()
      assert.deepEqual([tunnel?.to, tunnel?.host], [to, to])
      assert.ok(tunnel?.said.includes(host.replace(/:.*/, '')), 'the server name of the handshake')
    }
  }))

test('a trusted origin is asked of the proxy by its name, which only the proxy may know', () =>
  withProxy(async ({ url, tunnels }) => {
    const trusted = 'https://inside.example'
    const proxied = fetcherWith({ proxy: { https: url } })
    await assert.rejects(proxied.fetch(`${trusted}/x`, { ...LIMITS, trustedOrigin: trusted }))
    assert.equal(tunnels[0]?.to, 'inside.example:443')
  }))

test('a host that is exempt from the proxy is dialled at the checked address', () =>
  withSite(
    (_request, response) => response.end(PICTURE),
    async (site) => {
      const { dialled, connectTo } = internet(site)
      const proxy = { http: 'http://127.0.0.1:1', no: 'public.example' }
      const bytes = await fetcherWith({ proxy, connectTo }).fetch('http://public.example/', LIMITS)
      assert.deepEqual(Buffer.from(bytes), PICTURE)
      assert.deepEqual(dialled, ['93.184.215.14'])
    },
  ))
