import conflict from './ja/conflict.json';
import versions from './ja/versions.json';

/** The Japanese texts of versions, and of changes that contradict each other. */
export const texts = { conflict, versions };
