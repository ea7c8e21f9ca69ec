/** The hashing queue is full: hashing costs memory and time on purpose. */
export class PasswordsBusy extends Error {
  override readonly name = 'PasswordsBusy'
}
