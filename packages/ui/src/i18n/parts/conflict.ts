import conflict from '../en/conflict.json';
import { addTexts } from './add-texts.ts';

await addTexts({ conflict }, () => import('../ja-versions.ts'));
