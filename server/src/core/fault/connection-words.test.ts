import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertLinear } from '#test/support/cpu-growth.ts'
import { connectionWords, withoutAddresses } from './connection-words.ts'
import { UpstreamFailure, withoutWords } from './failure.ts'
import { Fault } from './fault.ts'
import { loggedCause, loggedText } from './logged.ts'
import { faultOfFailure } from './of-failure.ts'

for (const [codes, words] of [
  [['ECONNREFUSED'], 'connection refused'],
  [['ECONNRESET'], 'connection reset'],
  [['EPIPE'], 'connection reset'],
  [['ENOTFOUND'], 'its name is not known'],
  [['EAI_AGAIN'], 'its name could not be looked up'],
  [['ETIMEDOUT'], 'no connection in time'],
  [['UND_ERR_CONNECT_TIMEOUT'], 'no connection in time'],
  [['EHOSTUNREACH'], 'its host is unreachable'],
  [['ENETUNREACH'], 'its network is unreachable'],
  [['EMFILE'], 'this node has no socket left'],
  [['CERT_HAS_EXPIRED'], 'its certificate has expired'],
  [['CERT_NOT_YET_VALID'], 'its certificate is not valid yet'],
  [['DEPTH_ZERO_SELF_SIGNED_CERT'], 'its certificate is self-signed'],
  [['SELF_SIGNED_CERT_IN_CHAIN'], 'its certificate is self-signed'],
  [['ERR_TLS_CERT_ALTNAME_INVALID'], 'its certificate is for another host'],
  [['UNABLE_TO_VERIFY_LEAF_SIGNATURE'], 'its certificate can not be verified'],
  [['CERT_REVOKED'], 'its certificate can not be verified'],
  [['EPROTO'], 'the TLS handshake failed'],
  [['ERR_SSL_WRONG_VERSION_NUMBER'], 'the TLS handshake failed'],
  [['UND_ERR_SOCKET'], 'connection closed'],
  // As the AI SDK's errors come: names and codes, the cause last.
  [['AI_APICallError', 'TypeError', 'Error', 'ECONNREFUSED'], 'connection refused'],
  [['TypeError', 'SocketError', 'UND_ERR_SOCKET', 'Error', 'ECONNRESET'], 'connection reset'],
  [['ESOMETHINGELSE'], 'no connection'],
  [[], 'no connection'],
] as const)
  test(`callers read '${words}' for ${codes.join(', ') || 'an error without a code'}`, () =>
    assert.equal(connectionWords(codes), words))

for (const [said, shown] of [
  ['connect ECONNREFUSED 10.0.0.7:8000', 'connect ECONNREFUSED [address]'],
  ['connect ECONNREFUSED ::1:8000', 'connect ECONNREFUSED [address]'],
  ['at fe80::1ff:fe23:4567:890a or [2001:db8::7]:443.', 'at [address] or [address].'],
  ['dial tcp 192.168.3.9:443: i/o timeout', 'dial tcp [address]: i/o timeout'],
  ['Cannot connect to host vllm-0.internal:8000 ssl:default', 'Cannot connect to host [address] ssl:default'],
  ['lookup tei.ai.svc.cluster.local: no such host', 'lookup [address]: no such host'],
  ['POST http://vllm/v1/embeddings: 500', 'POST [address] 500'],
  ['at "https://gpu.example.com:8443/v1"', 'at "[address]"'],
  ['localhost:8080 is busy', '[address] is busy'],
  // What names no place of an installation stays.
  ['See https://platform.openai.com/docs/guides.', 'See https://platform.openai.com/docs/guides.'],
  ['vLLM 0.11.2 says std::bad_alloc at 12:30:45', 'vLLM 0.11.2 says std::bad_alloc at 12:30:45'],
  ['model llama3:70b needs 3.5 GB', 'model llama3:70b needs 3.5 GB'],
] as const)
  test(`an upstream’s words leave without addresses: ${said}`, () =>
    assert.equal(withoutAddresses(said), shown))

test('a caller reads what failed, and the log where', () => {
  const at = 'connect ECONNREFUSED 10.0.0.7:80'
  const failure = new UpstreamFailure('unreachable', 'connection refused', { deployment: 'm/u' }, at)
  for (const one of [failure, withoutWords(failure)]) {
    const fault = faultOfFailure(one, 'm', 1)
    assert.equal(fault.message, 'm/u could not be reached (connection refused).')
    assert.equal(loggedText(fault), fault.message)
    assert.equal(loggedCause(fault.cause), at)
  }
  const quoting = new UpstreamFailure('failed', `proxy: ${at}`, { deployment: 'm/u', status: 502 })
  const fault = faultOfFailure(quoting, 'm', 1)
  assert.equal(fault.message, 'm/u failed with 502: proxy: connect ECONNREFUSED [address]')
  assert.ok(fault instanceof Fault)
  assert.equal(loggedText(fault), 'm/u failed with 502: […]')
})

test('a hostile text costs time linear in its length', () => {
  for (const unit of ['a.', '1.', '1:', 'a-', 'http://a', '::', '[:', 'local.', 'a.local'])
    assertLinear(1024, (size) => {
      const text = unit.repeat(size)
      return () => withoutAddresses(text)
    })
})
