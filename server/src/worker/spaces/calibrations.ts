/** The calibrations that this node knows. They never change, so only new ones are read. */
import type { Calibration } from '#core/embedding/vector-types/calibration.ts'
import type { Actor } from '#ports/audit.ts'
import type { SpaceStore } from '#ports/spaces.ts'

export class CalibrationsInForce {
  readonly #store: Pick<SpaceStore, 'calibrationsBeyond' | 'addCalibration'>
  readonly #byId = new Map<string, Calibration>()
  /** By the space of their float vectors, the newest last. */
  #bySpace: ReadonlyMap<string, readonly Calibration[]> = new Map()

  constructor(store: Pick<SpaceStore, 'calibrationsBeyond' | 'addCalibration'>) {
    this.#store = store
  }

  /** Rejects with `StoreUnreachable`; what was known before then stays in force. */
  async follow(): Promise<void> {
    this.#learn(await this.#store.calibrationsBeyond([...this.#byId.keys()]))
  }

  /** Stores it. Other nodes know it after their next reading. */
  async add(calibration: Calibration, actor: Actor): Promise<Calibration> {
    const stored = await this.#store.addCalibration(calibration, actor)
    this.#learn([stored])
    return stored
  }

  #learn(calibrations: readonly Calibration[]): void {
    if (calibrations.length === 0) return
    for (const calibration of calibrations) this.#byId.set(calibration.id, calibration)
    const inOrder = [...this.#byId.values()].toSorted(
      (one, other) => one.madeAtMs - other.madeAtMs || (one.id < other.id ? -1 : 1),
    )
    this.#bySpace = Map.groupBy(inOrder, ({ space }) => space)
  }

  /** The one with this id, else the newest of the space. An id of another space counts for nothing. */
  of(space: string, id: string | undefined): Calibration | undefined {
    const known = this.#bySpace.get(space)
    return known?.find((one) => one.id === id) ?? known?.at(-1)
  }

  ofModel(model: string): readonly Calibration[] {
    return [...this.#bySpace.values()].flat().filter((one) => one.model === model)
  }
}
