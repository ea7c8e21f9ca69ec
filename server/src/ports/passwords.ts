/** Passwords as they are kept: what is stored can't be turned back into one. */
export interface Passwords {
  /** Rejects with `PasswordsBusy`. */
  hash(password: string): Promise<string>
  /** Takes as long without a hash as with one. Rejects with `PasswordsBusy`. */
  isRight(password: string, hash: string | undefined): Promise<boolean>
}

/** The hashing queue is full: hashing costs memory and time on purpose. */
export class PasswordsBusy extends Error {
  override readonly name = 'PasswordsBusy'
}
