import files from '../en/files.json';
import { addTexts } from './add-texts.ts';

await addTexts({ files }, () => import('../ja-files.ts'));
