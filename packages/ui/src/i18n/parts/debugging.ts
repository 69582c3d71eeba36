import debugging from '../en/debugging.json';
import { addTexts } from './add-texts.ts';

addTexts({ debugging });
