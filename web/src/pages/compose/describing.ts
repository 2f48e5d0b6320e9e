/** Key of the mutations that describe a file: a description is part of the posts that use the file. */
export const describing = ['describe']
