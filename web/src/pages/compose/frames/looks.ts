import looks from './looks.json'

/** The specifics of a network's posts. The pages of review links have the same. */
export interface Look {
  /** The avatar is left of everything, or above the text with the name. */
  layout: 'column' | 'header' | 'bubble' | 'photo'
  card: 'large' | 'bar' | 'overlay' | 'quote' | 'side'
  isSquare?: boolean
  /** The most files in a grid. */
  files: number
  /** The limits of a single file's aspect ratio. */
  ratio: [min: number, max: number]
}

const usual: Look = { layout: 'header', card: 'large', files: 4, ratio: [0.5, 2] }

export const lookOf = (network: string): Look => (looks as unknown as Record<string, Look>)[network] ?? usual
