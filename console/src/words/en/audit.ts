export const audit = {
  title: 'Audit',
}
