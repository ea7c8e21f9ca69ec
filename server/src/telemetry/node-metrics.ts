/** Metrics of the node as an installed program: its build, its configuration, its disk. */
import type { DiskSpace } from '#ports/disk-room.ts'
import type { Validity } from '#core/node/certificate-validity.ts'
import { samplesText, valueText } from './series.ts'

export interface Build {
  readonly version: string
  /** Commit of the source it was built from; empty when unknown. */
  readonly commit: string
}

/** Digits of a hash: enough to distinguish two files, and short enough to read aloud. */
const HASH_DIGITS = 12

export class NodeMetrics {
  readonly #build: Build
  #config: { readonly loadedAtMs: number; readonly hash: string; readonly isRefused: boolean } | undefined
  #disk: (() => Promise<DiskSpace | undefined>) | undefined
  #imagesWaiting: (() => Promise<number>) | undefined

  #certificate: (() => Validity | undefined) | undefined
  #spans: (() => { readonly exported: number; readonly dropped: number }) | undefined

  constructor(build: Build) {
    this.#build = build
  }

  /** `digest` of the file; empty when there is none. */
  configLoaded(nowMs: number, digest: string): void {
    this.#config = { loadedAtMs: nowMs, hash: digest.slice(0, HASH_DIGITS), isRefused: false }
  }

  /** The last good configuration stays in force. */
  configRefused(): void {
    if (this.#config !== undefined) this.#config = { ...this.#config, isRefused: true }
  }

  /** `disk`: that of the data folder. */
  readDisk(disk: () => Promise<DiskSpace | undefined>): void {
    this.#disk = disk
  }

  readImageSpool(waiting: () => Promise<number>): void {
    this.#imagesWaiting = waiting
  }

  readCertificate(read: () => Validity | undefined): void {
    this.#certificate = read
  }

  readSpans(read: () => { readonly exported: number; readonly dropped: number }): void {
    this.#spans = read
  }

  async text(): Promise<string> {
    const { version, commit } = this.#build
    return [
      samplesText('torana_build_info', [{ labels: { version, commit }, value: 1 }]),
      this.#configText(),
      await this.#diskText(),
      valueText('torana_image_spool_waiting', await this.#imagesWaiting?.().catch(() => undefined)),
      this.#certificateText(),
      this.#spansText(),
    ].join('')
  }

  #certificateText(): string {
    const validity = this.#certificate?.()
    if (validity === undefined) return ''
    return [
      valueText('torana_tls_certificate_begin_timestamp_seconds', validity.beginsAtMs / 1000),
      valueText('torana_tls_certificate_end_timestamp_seconds', validity.endsAtMs / 1000),
    ].join('')
  }

  #spansText(): string {
    const spans = this.#spans?.()
    if (spans === undefined) return ''
    return samplesText('torana_trace_spans_total', [
      { labels: { outcome: 'exported' }, value: spans.exported },
      { labels: { outcome: 'dropped' }, value: spans.dropped },
    ])
  }

  #configText(): string {
    if (this.#config === undefined) return ''
    const { hash, isRefused, loadedAtMs } = this.#config
    return [
      hash === '' ? '' : samplesText('torana_config_info', [{ labels: { hash }, value: 1 }]),
      valueText('torana_config_last_reload_successful', Number(!isRefused)),
      valueText('torana_config_last_reload_success_timestamp_seconds', Math.floor(loadedAtMs / 1000)),
    ].join('')
  }

  /** `torana_disk_failing` reports a disk that can't be read. */
  async #diskText(): Promise<string> {
    const disk = await this.#disk?.()
    if (disk === undefined) return ''
    return [
      valueText('torana_data_folder_free_bytes', disk.freeBytes),
      valueText('torana_data_folder_size_bytes', disk.sizeBytes),
    ].join('')
  }
}
