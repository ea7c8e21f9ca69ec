export const unknowns = {
  title: 'Unknowns',
}
