import conflict from './ja/conflict.json';
import setting from './ja/setting.json';
import versions from './ja/versions.json';

/** The Japanese texts of versions, of settings by name, and of changes that contradict each other. */
export const texts = { conflict, setting, versions };
