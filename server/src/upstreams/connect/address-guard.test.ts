import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isAllowedPort, isPublicAddress } from './address-guard.ts'

const FORBIDDEN: Record<string, readonly string[]> = {
  'this network': ['0.0.0.0', '0.0.0.1', '0.255.255.255'],
  loopback: ['127.0.0.1', '127.0.0.53', '127.255.255.255', '::1'],
  private: ['10.0.0.0', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1', '192.168.255.255'],
  'link-local': ['169.254.0.1', '169.254.169.254', '169.254.170.2', 'fe80::1', 'febf::1'],
  'carrier-grade NAT': ['100.64.0.1', '100.100.100.200', '100.127.255.255'],
  'cloud metadata': ['168.63.129.16', 'fd00:ec2::254', 'fd20:ce::254'],
  'protocol assignments': ['192.0.0.1', '192.0.0.170', '192.0.0.192'],
  documentation: ['192.0.2.1', '198.51.100.7', '203.0.113.255', '2001:db8::1', '3fff::1'],
  benchmarking: ['198.18.0.1', '198.19.255.255', '2001:2::1'],
  'relays and sinks': ['192.88.99.1', '192.31.196.1', '192.52.193.1', '192.175.48.1', '100::1'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1', 'ff0e::1'],
  'reserved and broadcast': ['240.0.0.1', '254.1.2.3', '255.255.255.255'],
  unspecified: ['::'],
  'unique-local': ['fc00::1', 'fd12:3456:789a::1'],
  'site-local': ['fec0::1', 'feff::1'],
  'IPv4-mapped': ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '::ffff:169.254.169.254'],
  'IPv4-compatible': ['::127.0.0.1', '::7f00:1', '::8.8.8.8'],
  'IPv4-translated': ['::ffff:0:127.0.0.1', '::ffff:0:8.8.8.8'],
  NAT64: ['64:ff9b::127.0.0.1', '64:ff9b::a00:1', '64:ff9b::a9fe:a9fe', '64:ff9b:1::1', '64:ff9b:1::808:808'],
  '6to4': ['2002:7f00:1::', '2002:a00:1::1', '2002:808:808::1'],
  Teredo: ['2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  'other special': ['2001:10::1', '2001:20::1', '2001:30::1', '5f00::1', '2620:4f:8000::1'],
  'nobody’s': ['1::1', '4000::1', '8000::1', 'e000::1', '200::1'],
  'with a zone': ['fe80::1%eth0', '2606:4700::1111%1'],
  'no address': [
    '',
    'localhost',
    '127.1',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '2130706433',
    '8.8.8',
    '[::1]',
    '8.8.8.8 ',
  ],
}
for (const [kind, addresses] of Object.entries(FORBIDDEN)) {
  test(`no address of this kind is public: ${kind}`, () => {
    for (const address of addresses) assert.ok(!isPublicAddress(address), address)
  })
}

test('addresses of the public internet are public', () => {
  for (const address of [
    ['1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255'],
    ['128.0.0.1', '172.15.255.255', '172.32.0.0', '192.167.255.255', '198.17.255.255', '223.255.255.255'],
    ['2606:4700:4700::1111', '2a00:1450:4001::200e', '2400:cb00::1', '2001:4860:4860::8888'],
    ['::ffff:8.8.8.8', '64:ff9b::8.8.8.8'],
  ].flat()) {
    assert.ok(isPublicAddress(address), address)
  }
})

test('a private IPv4 address is private in whatever IPv6 it is dressed', () => {
  const octet = fc.integer({ min: 0, max: 255 })
  const inside = fc.oneof(
    fc.tuple(fc.constant(10), octet, octet, octet),
    fc.tuple(fc.constant(127), octet, octet, octet),
    fc.tuple(fc.constant(169), fc.constant(254), octet, octet),
    fc.tuple(fc.constant(192), fc.constant(168), octet, octet),
    fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), octet, octet),
  )
  fc.assert(
    fc.property(inside, ([a, b, c, d]) => {
      const high = ((a << 8) | b).toString(16)
      const low = ((c << 8) | d).toString(16)
      for (const address of [
        `${a}.${b}.${c}.${d}`,
        `::ffff:${a}.${b}.${c}.${d}`,
        `::ffff:${high}:${low}`,
        `::${high}:${low}`,
        `::ffff:0:${high}:${low}`,
        `64:ff9b::${high}:${low}`,
        `64:ff9b:1::${high}:${low}`,
        `2002:${high}:${low}::1`,
      ]) {
        assert.ok(!isPublicAddress(address), address)
      }
    }),
  )
})

test('nothing that is no address is public, and nothing throws', () => {
  fc.assert(fc.property(fc.string(), (text) => void isPublicAddress(text)))
})

test('ports of other protocols are not connected to', () => {
  for (const port of ['0', '22', '25', '6000', '6667']) assert.ok(!isAllowedPort(port), port)
  for (const port of ['', '80', '443', '8443', '9000']) assert.ok(isAllowedPort(port), port)
})
