import storage from '../en/storage.json';
import { addTexts } from './add-texts.ts';

addTexts({ storage });
