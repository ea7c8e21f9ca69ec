import type { LedgerEntry } from '#core/money/ledger.ts'

/** A paid call, and only what a test is about spelt out. */
export function anEntry(overrides: Partial<LedgerEntry> = {}): LedgerEntry {
  return {
    requestId: '01930000-0000-7000-8000-000000000001',
    attempt: 0,
    kind: 'post',
    callId: '01930000-0000-7000-8000-000000000002',
    project: 'p',
    keyId: 'p/k',
    model: 'm',
    deployment: 'm/d',
    usage: 'upstream',
    tokens: 10,
    images: 0,
    amountNanoUsd: 100n,
    projectLeaseNanoUsd: 0n,
    keyLeaseNanoUsd: 0n,
    ...overrides,
  }
}

/** The n-th of many: its number is its name, its tokens and its cost. */
export function numbered(number: number, overrides: Partial<LedgerEntry> = {}): LedgerEntry {
  return anEntry({
    requestId: `01930000-0000-7000-8000-${String(number).padStart(12, '0')}`,
    tokens: number,
    amountNanoUsd: BigInt(number),
    ...overrides,
  })
}
