import assert from 'node:assert/strict'
import { isIP } from 'node:net'
import { test } from 'node:test'
import fc from 'fast-check'
import { clientAddressOf, type ProxyRules } from './client-address.ts'

const rules: ProxyRules = {
  isAddress: (text) => isIP(text) !== 0,
  isTrusted: (address) => address.startsWith('10.') || address.startsWith('fd00:'),
}

for (const [what, peer, header, client] of [
  ['nothing stands between', '192.0.2.1', undefined, '192.0.2.1'],
  ['a stranger names another address', '192.0.2.1', '198.51.100.7', '192.0.2.1'],
  ['a stranger names a proxy', '192.0.2.1', '10.0.0.1', '192.0.2.1'],
  ['one proxy', '10.0.0.1', '192.0.2.1', '192.0.2.1'],
  ['two proxies', '10.0.0.1', '192.0.2.1, 10.0.0.2', '192.0.2.1'],
  ['a stranger before a proxy', '10.0.0.1', '198.51.100.7, 10.9.9.9, 192.0.2.1, 10.0.0.2', '192.0.2.1'],
  ['the client is among the proxies', '10.0.0.1', '10.0.0.3,10.0.0.2', '10.0.0.3'],
  ['the proxy wrote nothing', '10.0.0.1', undefined, '10.0.0.1'],
  ['the header is empty', '10.0.0.1', '', '10.0.0.1'],
  ['the proxy does not know', '10.0.0.1', 'unknown', '10.0.0.1'],
  ['words before a proxy', '10.0.0.1', '192.0.2.1, <script>, 10.0.0.2', '10.0.0.2'],
  ['an empty entry', '10.0.0.1', '192.0.2.1,,10.0.0.2', '10.0.0.2'],
  ['ports', '10.0.0.1', '192.0.2.1:4711, 10.0.0.2:80', '192.0.2.1'],
  ['IPv6', 'fd00::1', '2001:db8::7, [fd00::2]:443', '2001:db8::7'],
  ['IPv4 that looks like IPv6', '::ffff:10.0.0.1', '::FFFF:192.0.2.1', '192.0.2.1'],
  ['a zone', 'fe80::1%eth0', undefined, 'fe80::1'],
] as const) {
  test(`the client's address: ${what}`, () => {
    assert.equal(clientAddressOf(peer, header, rules), client)
  })
}

test('whatever a client writes, behind a proxy its address is the one that the proxy saw', () => {
  fc.assert(
    fc.property(
      fc.string(),
      fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 5 }),
      (forged, hosts) => {
        const proxies = hosts.map((host) => `10.1.1.${host}`)
        const header = [forged, '192.0.2.1', ...proxies].join(', ')
        assert.equal(clientAddressOf('10.0.0.1', header, rules), '192.0.2.1')
      },
    ),
  )
})

test('without a trusted proxy no header counts', () => {
  fc.assert(
    fc.property(fc.string(), (forged) => {
      assert.equal(clientAddressOf('192.0.2.1', forged, rules), '192.0.2.1')
    }),
  )
})

test('the walk ends, however long the header is', () => {
  let asked = 0
  const counting = { ...rules, isTrusted: () => (asked += 1) > 0 }
  clientAddressOf('10.0.0.1', '10.0.0.2,'.repeat(1600), counting)
  clientAddressOf('10.0.0.1', Array(1600).fill('10.0.0.2').join(), counting)
  assert.ok(asked < 40, `${asked}`)
})
